"""The errors of this package."""

from __future__ import annotations

from match_core.contract.errors import ModelError
from match_core.ir.naming import comment_text


def damaged(source: str, why: str) -> ModelError:
    """MATCH-F021: the file contradicts itself."""
    return ModelError(
        "MATCH-F021",
        "the TFLite file is damaged",
        source,
        why,
        ("convert the network again", "check that the file was copied or downloaded completely"),
    )


def unsupported(kind: str, where: str, why: str, *help_lines: str) -> ModelError:
    """MATCH-F022: an operator, or a form of it, that is not supported."""
    return ModelError(
        "MATCH-F022",
        f"the TFLite operator {comment_text(kind)} is not supported",
        where,
        why,
        (*help_lines, "or export the network to ONNX" if help_lines else "export the network to ONNX"),
    )


def unsupported_tensor(where: str, why: str, *help_lines: str) -> ModelError:
    """MATCH-F023: a tensor without a counterpart in ONNX."""
    return ModelError("MATCH-F023", "a tensor of the TFLite file is not supported", where, why, help_lines)


def not_installed() -> ModelError:
    """MATCH-F020: the package tflite is missing."""
    return ModelError(
        "MATCH-F020",
        "TFLite files cannot be read",
        "package tflite",
        "the package that describes the format is not installed",
        ("pip install match-tflite", "or export the network to ONNX"),
    )
