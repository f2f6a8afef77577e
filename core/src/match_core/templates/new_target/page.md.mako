${"#"} ${name}

| part | what it is |
|---|---|
| host | runs the program and what the array does not take |
| `${name}_array` | 8x8 multipliers, uint8 activations, int8 weights, 32-bit sums, requantisation |
| `l1` | 64 KiB of scratchpad; the array reads and writes it |
| `l2` | 1 MiB; activations and constants lie there between layers |
| `dma` | 8 bytes in a cycle between the two |

${"##"} What the array runs

Dense layers with requantisation. `match targets --ops MODEL` shows what it takes of a model, and which rule refuses the rest.

${"##"} What is not known

Every figure is an example.
