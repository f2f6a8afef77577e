"""A greedy mapper."""
