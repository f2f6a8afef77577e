"""Compiled programs as packages of other ecosystems."""

__version__ = "0.1.0"
