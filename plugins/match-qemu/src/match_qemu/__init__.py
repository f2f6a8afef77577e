"""Runners for match: emulated boards, and real ones over a serial line."""

__version__ = "0.1.0"
