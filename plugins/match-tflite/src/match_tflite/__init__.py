"""TensorFlow Lite models for match."""

__version__ = "0.1.0"
