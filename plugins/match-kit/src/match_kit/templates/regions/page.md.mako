${"#"} ${name}

| part | description |
|---|---|
| host | runs the program and all operators that the engine does not support |
| `${name}_engine` | int8 activations and weights, 32-bit sums, requantisation; 64 KiB of its own for weights |
| `ram` | 1 MiB; holds activations, and constants until the program is initialised |

${"##"} What the engine runs

Chains of dense layers with requantisation, one row at a time. `match operators MODEL` shows which nodes of a model it
runs, and which rules refuse the others. Weights are loaded once, when the program is initialised; of the regions that
fit the engine's memory together, the fastest are chosen.

${"##"} Unknown figures

Every figure is an example.
