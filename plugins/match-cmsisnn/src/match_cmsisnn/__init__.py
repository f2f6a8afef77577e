"""CMSIS-NN as a second engine on Arm Cortex-M: layers that call the user's own copy of the library."""

__version__ = "0.1.0"
