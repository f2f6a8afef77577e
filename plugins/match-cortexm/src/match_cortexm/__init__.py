"""Targets with Arm Cortex-M cores for match: kernels for cores with the DSP extension and with Helium."""

__version__ = "0.1.0"
