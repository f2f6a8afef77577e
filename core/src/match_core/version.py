"""The version of match-core."""

__version__ = "0.1.0"
