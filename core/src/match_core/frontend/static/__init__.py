"""Networks whose course is fixed become lists of operators: bodies of functions and branches are put in, loops are
unrolled, sequences become their elements, and sizes that the graph computes become constants."""
