"""Mistakes that a vendor makes in a package: one message each, which names the cause."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import onnx
import pytest
from match_core.cli.main import run
from match_core.plugin.discovery import ALLOW_VARIABLE
from match_kit.testing import samples

from tests.base_packages import allowing

if TYPE_CHECKING:
    from tests.kit.conftest import Scaffolded

PLUGIN, HARDWARE, PATTERNS, COST, EMIT, HEADER, TWIN = (
    f"src/match_sprout/{name}"
    for name in ("plugin.py", "hardware.py", "patterns.py", "cost.py", "emit.py", "c/sprout_sdk.h", "c/sprout_twin.c")
)
_PASS = '''
@hookimpl
def match_transforms(soc: Soc):
    """One pass."""
    from match_core import Pass, Phase
    from match_core.ir.editor import Editor

    def run(model, context):
        editor = Editor(model)
        for node in list(editor.graph.nodes):
            if node.op == "MatMulInteger":
                BODY
        return editor.finish()

    return (Pass("sprout_pass", Phase.TARGET, run, "a pass"),)


@hookimpl
def match_patterns('''


@dataclass(frozen=True)
class Mistake:
    """``edits``: (file, text, what stands there instead); ``said``: parts of the message; ``levels``: those of the
    conformance cases that report it, without them ``match verify`` does."""

    edits: tuple[tuple[str, str, str], ...]
    said: tuple[str, ...]
    levels: tuple[str, ...] = ()


def _pass(body: str) -> tuple[tuple[str, str, str], ...]:
    return ((PLUGIN, "\n@hookimpl\ndef match_patterns(", _PASS.replace("BODY", body)),)


MISTAKES = {
    "a hook is misspelt": Mistake(
        ((PLUGIN, "def match_patterns(", "def match_pattern("),),
        ("MATCH-H003", "match-sprout 0.1.0", "there is no hook match_pattern; did you mean match_patterns?"),
    ),
    "a hook raises": Mistake(
        ((PLUGIN, "return PATTERNS if", "return PATTERN if"),),
        (
            "MATCH-H005: match_patterns for sprout_array failed",
            "name 'PATTERN' is not defined (match_sprout/plugin.py:",
        ),
    ),
    "a hook returns something else": Mistake(
        ((PLUGIN, "return PATTERNS if", 'return ["dense"] if'),),
        ("MATCH-H006: match_patterns for sprout_array failed", "a value of type str at position 0, Pattern expected"),
    ),
    "a rule raises": Mistake(
        ((PATTERNS, 'match.shape("weight")[0]', 'match.shape("weights")[0]'),),
        (
            "MATCH-H005: rule features of pattern sprout_dense failed",
            "match-sprout 0.1.0, stage: match_patterns, nodes gemm3",
            "KeyError: 'weights' (match_sprout/patterns.py:",
        ),
    ),
    "a cost raises": Mistake(
        ((COST, 'side = VALUES["side"]', 'side = VALUES["sides"]'),),
        (
            "MATCH-H005: kernel_cycles of cost model sprout-dense failed",
            "stage: match_cost, a layer with N 1, K 40, C 96",
            "KeyError: 'sides' (match_sprout/cost.py:",
        ),
    ),
    "a memory that the chip lacks": Mistake(
        ((HARDWARE, 'memory="l1"', 'memory="l3"'),),
        (
            "MATCH-H006: target sprout cannot be used",
            "unit 'sprout_array' of match-sprout, hook match_hardware",
            "its memory 'l3' is not one of the target's: l1, l2",
        ),
    ),
    "constants of another type": Mistake(
        (
            (
                EMIT,
                "return packed(match)",
                'return {**packed(match), "weight": packed(match)["weight"].astype("int16")}',
            ),
        ),
        (
            "MATCH-H006: constants of kernel sprout_dense failed",
            "stage: match_emit_api, nodes gemm3",
            "constant weight has 7680 bytes (int16), not 3840",
        ),
    ),
    "a parameter that the kernel expects is missing": Mistake(
        ((PATTERNS, "arithmetic=bounds(match)", "arithmetic=bounds(match)[1:]"),),
        ("MATCH-H006", "geometry ('high', 'low') differ from the interface's ('high', 'low', 'shift')"),
    ),
    "a C function without a definition": Mistake(
        (
            (TWIN, "void sprout_dense(const", "void sprout_other(const"),
            (HEADER, "\n#endif", "void sprout_other(const match_sprout_dense_t *ctx);\n#endif"),
        ),
        (
            "MATCH-T002",
            "no C file defines sprout_dense, which net_sprout_array.c calls; "
            "sprout_twin.c should define it, with sprout_sdk.h",
        ),
    ),
    "a kernel computes something else": Mistake(
        ((TWIN, "y < t->low ? t->low :", "y < t->low + 3 ? t->low + 3 :"),),
        (
            "task 1 (gemm3, relu4), pattern sprout_dense of unit sprout_array, is the first that differs",
            "value [0, 0] of quantizelinear5_y_stored is 3, the integer graph has 0; 17 of 40 values differ",
        ),
    ),
    "nobody waits for copies": Mistake(
        ((TWIN, "match_twin_complete(copies[i]);", "(void)copies[i];"),),
        ("unit sprout_array, model two_layers, mode lazy", "asynchronous operations were never waited for"),
        ("programs",),
    ),
    "a pass is not exact": Mistake(
        _pass("node.inputs[1].values = -node.inputs[1].values"),
        ("match_transforms, pass sprout_pass", "7 of 10 values differ; it claims exact=True"),
        ("passes",),
    ),
    "a pass makes an invalid model": Mistake(
        _pass('node.op = "MatMulIntegers"'),
        ("match_transforms, pass sprout_pass", "invalid model: No Op registered for MatMulIntegers"),
        ("passes",),
    ),
    "the twin counts other cycles": Mistake(
        ((TWIN, "(uint64_t)ctx->n * ", "3u * (uint64_t)ctx->n * "),),
        (
            "match_cost, unit sprout_array, pattern sprout_dense, layer gemm3, relu4 of model two_layers",
            "705 cycles modelled, 825 counted on the twin",
        ),
        ("costs",),
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_one_message_names_the_cause(
    name: str,
    scaffolded: Scaffolded,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    mistake = MISTAKES[name]
    for edit in mistake.edits:
        scaffolded.edit(*edit)
    if mistake.levels:
        message = scaffolded.faults(*mistake.levels)
    else:
        monkeypatch.setenv(ALLOW_VARIABLE, allowing("match-sprout")[ALLOW_VARIABLE])
        onnx.save(samples.dense("net", (96, 40, 10)).make(), tmp_path / "net.onnx")
        assert run(["verify", str(tmp_path / "net.onnx"), "-t", "sprout", "--quiet"]) in (1, 3)
        message = "".join(capsys.readouterr())
    for text in mistake.said:
        assert text in message
    assert message.count(mistake.said[-1]) == 1
    assert "internal error" not in message
