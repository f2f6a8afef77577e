"""C kernels for Cortex-M, generated per layer."""
