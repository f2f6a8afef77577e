"""Verification for match: programs against the integer graph and the original model, and the verb verify."""

__version__ = "0.1.0"
