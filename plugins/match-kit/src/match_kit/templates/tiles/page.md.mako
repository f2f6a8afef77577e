${"#"} ${name}

| part | description |
|---|---|
| host | runs the program and all operators that the array does not support |
| `${name}_array` | 8x8 multipliers, uint8 activations, int8 weights, 32-bit sums, requantisation |
| `l1` | 64 KiB of scratchpad; the array reads and writes it |
| `l2` | 1 MiB; holds activations and constants between layers |
| `dma` | copies 8 bytes per cycle between the two |

${"##"} What the array runs

Dense layers with requantisation. `match operators MODEL` shows which nodes of a model it runs, and which rules refuse the others.

${"##"} Unknown figures

Every figure is an example.
