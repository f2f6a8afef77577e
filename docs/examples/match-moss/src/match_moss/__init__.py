"""Target moss for match: a microcontroller with a convolution engine whose weights are resident."""
