"""The mapper of match: the cheapest cover of a network by units, proven optimal."""

__version__ = "0.1.0"
