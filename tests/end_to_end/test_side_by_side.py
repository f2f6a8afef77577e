"""Programs for real chips with units side by side: every way of running them agrees, and no unit can hang a program."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from match_core.contract.errors import ToolError
from match_core.plugin.facade import Plugins
from match_core.run.build import build, compile_program
from match_core.run.compiler import BuildOptions
from match_core.run.execute import run_twin
from match_core.run.modes import queues_of

from tests.end_to_end.side_by_side import MODELS, Beside, compiled, differences, two_branches

#: The variants of the chip: units are signalled by interrupts, or poll.
TARGETS = ("carfield", "carfield_poll")
#: Puts the end of a session before each sample but the first: begun, then stopped early, and set up again.
STOPPED = """        if (sample > 0) {
            if ((NAME_start(&ctx, &inputs, &outputs) != 0) || (NAME_poll(&ctx) != 1)) {
                return 5;
            }
            NAME_stop(&ctx);
            if (NAME_init(&ctx) != 0) {
                return 6;
            }
        }
        match_twin_reset();"""


@pytest.fixture(scope="module", params=TARGETS)
def small(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Beside:
    folder = tmp_path_factory.mktemp("small")
    two_branches(folder / "model.onnx")
    return compiled(folder / "model.onnx", folder, Plugins.load(), request.param, samples=2)


def test_all_modes_agree_with_sanitizers(small: Beside, tmp_path: Path) -> None:
    assert {"pulp", "spatz"} <= set(queues_of(small.document))
    assert [(mode, what) for mode, _, what in differences(small.runs(tmp_path, sanitize=True)) if what] == []


def test_a_hung_unit_ends_the_run_with_the_timeout(small: Beside, tmp_path: Path) -> None:
    twin = build(small.program, tmp_path, small.apis, small.host, BuildOptions())
    for queue in ("pulp", "spatz"):
        with pytest.raises(ToolError, match="run returned -3"):
            run_twin(twin, small.document, small.inputs, tmp_path, f"hang:{queue}", timeout_seconds=120)


def test_a_session_that_is_stopped_early_leaves_nothing_behind(small: Beside, tmp_path: Path) -> None:
    objects = compile_program(small.program, tmp_path, small.apis, small.host, BuildOptions())
    harness = tmp_path / "harness.c"
    text = harness.read_text(encoding="utf-8")
    changed = text.replace("        match_twin_reset();", STOPPED.replace("NAME", small.document["name"]), 1)
    assert changed != text
    source = tmp_path / "stopped.c"
    source.write_text(changed, encoding="utf-8")
    stopped = objects.link(tmp_path / "stopped", {harness: objects.compile(source, tmp_path / "stopped.o")})
    whole = objects.link(tmp_path / "twin")
    for mode in ("eager", "lazy", "lazy:pulp", "lazy:spatz"):
        results = [
            run_twin(twin, small.document, small.inputs, tmp_path, mode).outputs["y"] for twin in (whole, stopped)
        ]
        assert results[0].tobytes() == results[1].tobytes(), mode


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_all_modes_agree(name: str, shared_model: Callable[[str], Path], plugins: Plugins, tmp_path: Path) -> None:
    program = compiled(shared_model(name) / "model.onnx", tmp_path, plugins)
    assert [(mode, what) for mode, _, what in differences(program.runs(tmp_path, sanitize=False)) if what] == []
