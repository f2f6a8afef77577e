"""Networks beyond the home memory: layers in stripes of rows, tensors in the store."""

__version__ = "0.1.0"
