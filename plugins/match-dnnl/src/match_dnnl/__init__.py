"""Target dnnl for match: float regions of a network on oneDNN, on a computer with Linux."""

__version__ = "0.1.0"
