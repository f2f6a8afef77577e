"""Linear layers of the integer graph, for passes of chips: how they are read and changed, and what values to expect."""
