"""match from Python: the verbs as functions with typed results. ``import match_core as match`` offers the same five."""

from match_python.functions import compile, explain, quantize, targets, verify
from match_python.options import Options

__version__ = "0.1.0"
__all__ = ["Options", "compile", "explain", "quantize", "targets", "verify"]
