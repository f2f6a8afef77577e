${"#"} ${name}

| part | description |
|---|---|
| host | runs the program and all operators that the library does not have |
| `${name}_library` | Gemm, Relu, Sigmoid and Tanh in float32 |
| `ram` | 64 MiB; holds activations and constants |

${"##"} What the library runs

Dense layers and functions of one value. `match operators MODEL` shows which nodes of a model it runs, and which rules
refuse the others.

${"##"} Unknown figures

Every figure is an example.
