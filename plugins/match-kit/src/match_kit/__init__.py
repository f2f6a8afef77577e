"""The vendor's kit of match: a template package for a new chip, and conformance tests for target packages."""

__version__ = "0.1.0"
