${"#"} ${distribution}

Target `${name}` for match: a host core, an array of 8x8 multipliers for 8-bit dense layers, its scratchpad and a DMA.
All figures are examples; put your chip's in their place, each with its source.

${"##"} Try it

```console
$ pip install -e .[test]
$ match targets
$ match test-target .
```

${"##"} What is where

| file | hook or part |
|---|---|
| `src/${module}/plugin.py` | the hooks; nothing but calls of the files below |
| `src/${module}/hardware.py` | `match_hardware`: unit, memories, link, figures |
| `src/${module}/patterns.py` | `match_patterns`: what the array runs, and its limits |
| `src/${module}/cost.py` | `match_cost`: cycles of kernels, launches and copies |
| `src/${module}/emit.py` | `match_emit_api`: how the array is called in C |
| `src/${module}/c/${name}_sdk.h` | the functions of the chip's SDK |
| `src/${module}/c/${name}_twin.c` | these functions on the development machine, with the chip's cycles |
| `src/${module}/conformance.py` | what the conformance cases run on |
| `tests/test_conformance.py` | runs them |
| `docs/${name}.md` | the page for users |
