"""Schedule search for match: tiles and loop orders proven optimal under a cost model."""

__version__ = "0.1.0"
