"""Calibration: constants of a target, fitted to measured cycles of layers."""

__version__ = "0.1.0"
