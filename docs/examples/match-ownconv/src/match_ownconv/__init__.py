"""A convolution of its own for the host unit of match-host."""
