"""Host unit for match: C kernels for every operator on any core with a C compiler."""

__version__ = "0.1.0"
