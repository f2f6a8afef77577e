${"#"} ${distribution}

Target `${name}` for match: a computer with a library of float operators. Neighbouring operators that the library has
become one region, which calls it. All figures are examples; replace them with measured ones.

${"##"} Try it

```console
$ pip install -e .[test]
$ match targets
$ match test-target .
```

${"##"} Files

| file | hook or part |
|---|---|
| `src/${module}/plugin.py` | the hooks; they only call the files below |
| `src/${module}/hardware.py` | `match_hardware`: unit, memory, figures |
| `src/${module}/patterns.py` | `match_patterns`: the operators that the library has, and its rules |
| `src/${module}/cost.py` | `match_cost`: cycles of regions |
| `src/${module}/source.py` | a region as C that calls the library |
| `src/${module}/emit.py` | `match_emit_api`: header, files, libraries to link |
| `src/${module}/c/${name}.h`, `${name}.c` | a small library, in place of an installed one |
| `src/${module}/conformance.py` | the capabilities that the conformance tests use |
| `tests/test_conformance.py` | runs the conformance tests |
| `docs/${name}.md` | the page for users |
