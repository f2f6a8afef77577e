"""Concurrent programs: shares of operators on several units, and one plan of times and addresses."""

__version__ = "0.1.0"
