"""Quantised models for match: integer arithmetic from QDQ, QOperator and integer models, and the verb quantize."""

__version__ = "0.1.0"
