"""Turns networks with static control flow into lists of operators: functions and branches are inlined, loops are
unrolled, sequences become their elements, and sizes that the graph computes become constants."""
