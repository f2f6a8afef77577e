${"#"} ${distribution}

Target `${name}` for match: a host core, and an engine that runs chains of 8-bit dense layers, whose weights stay in
its own memory. All figures are examples; replace them with your chip's, each with its source.

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
| `src/${module}/patterns.py` | `match_patterns`: the operators that the engine claims, and its limits |
| `src/${module}/cost.py` | `match_cost`: cycles of regions |
| `src/${module}/program.py` | a region as the engine's program |
| `src/${module}/emit.py` | `match_emit_api`: how the engine is called in C |
| `src/${module}/c/${name}_sdk.h` | the functions of the chip's SDK: hold, start, wait |
| `src/${module}/c/${name}_regions.c` | loads and runs programs with these functions |
| `src/${module}/c/${name}_twin.c` | these functions on the development machine, with the chip's cycles |
| `src/${module}/conformance.py` | the capabilities that the conformance tests use |
| `tests/test_conformance.py` | runs the conformance tests |
| `docs/${name}.md` | the page for users |
