"""Studies: many compilations that differ in model, target, memory, units or precision, as one table and one page."""

__version__ = "0.1.0"
