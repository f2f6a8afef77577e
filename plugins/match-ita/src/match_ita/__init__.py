"""ITA target for match: Snitch cluster with the ITA transformer accelerator."""

__version__ = "0.1.0"
