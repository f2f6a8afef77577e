"""DIANA target for match: RISC-V host, digital array, analog in-memory array."""

__version__ = "0.1.0"
