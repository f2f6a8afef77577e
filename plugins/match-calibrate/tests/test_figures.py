"""Figures files: what ``--figures`` accepts and refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from match_core.contract.errors import UsageError
from match_core.contract.hardware import Soc
from match_core.deploy.figures import read_figures, with_figures
from match_core.plugin.facade import Plugins

GOOD = {"unit": "cluster", "constant": "cluster_offload_cycles", "value": 7}


def _document(*rows: object, **changes: object) -> dict[str, Any]:
    stated = {"schema": "match.figures", "schema_version": 1, "target": "gap9", "preset": "engine"}
    return {**stated, "figures": list(rows), **changes}


def _applied(tmp_path: Path, plugins: Plugins, content: object, preset: str | None = None) -> Soc:
    path = tmp_path / "figures.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    soc = plugins.soc("gap9")
    return with_figures(soc, preset, plugins.units_of(soc), read_figures(path))


def test_the_file_selects_its_preset(tmp_path: Path, installed: Plugins) -> None:
    soc = _applied(tmp_path, installed, _document(GOOD))
    assert (soc.preset, soc.figures) == ("engine", (("cluster", "cluster_offload_cycles", 7),))


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ("", "MATCH-U070"),
        ("[" * 100_000, "MATCH-U070"),
        ("[]", "MATCH-U070"),
        ('"match.figures"', "MATCH-U070"),
        (_document(GOOD, schema_version=2), "MATCH-U070"),
        (_document(GOOD, target=3), "MATCH-U070"),
        (_document(GOOD, preset=None), "MATCH-U070"),
        (_document(3), "MATCH-U070"),
        (_document({"unit": "cluster"}), "MATCH-U070"),
        (_document(figures=None), "MATCH-U070"),
        (" " * 2_000_000, "MATCH-U070"),
        (_document(GOOD, target="carfield"), "MATCH-U071"),
        (_document(GOOD, preset="none"), "MATCH-U071"),
        (_document({**GOOD, "constant": "cluster_ofload_cycles"}), "MATCH-U072"),
        (_document({**GOOD, "constant": "x" * 10_000}), "MATCH-U072"),
        (_document({**GOOD, "unit": "ne16"}), "MATCH-U072"),
        (_document({**GOOD, "constant": "dma_bytes_per_cycle"}), "MATCH-U072"),
        (_document({**GOOD, "value": -1}), "MATCH-U072"),
        (_document({**GOOD, "value": 2**31}), "MATCH-U072"),
        (_document({**GOOD, "value": 1.5}), "MATCH-U072"),
        (_document({**GOOD, "value": True}), "MATCH-U072"),
        (_document({**GOOD, "value": "7"}), "MATCH-U072"),
        (_document({**GOOD, "constant": "linear_inputs", "value": 0}), "MATCH-U072"),
        (_document(GOOD, GOOD), "MATCH-U072"),
    ],
)
def test_what_is_refused(content: object, code: str, tmp_path: Path, installed: Plugins) -> None:
    with pytest.raises(UsageError) as caught:
        _applied(tmp_path, installed, content)
    assert caught.value.code == code
    assert len(str(caught.value)) < 1000


def test_another_preset_is_refused(tmp_path: Path, installed: Plugins) -> None:
    with pytest.raises(UsageError) as caught:
        _applied(tmp_path, installed, _document(GOOD), "as-published")
    assert caught.value.code == "MATCH-U071"


def test_the_host_of_any_target_may_be_fitted(installed: Plugins, tmp_path: Path) -> None:
    soc = installed.soc("host")
    row = {"unit": "host", "constant": "host_call_cycles", "value": 99}
    path = tmp_path / "figures.json"
    path.write_text(json.dumps(_document(row, target="host", preset="generic")), "utf-8")
    fitted = with_figures(soc, None, installed.units_of(soc), read_figures(path))
    (unit,) = installed.units_of(soc)
    pattern = installed.patterns(soc, unit)[0]
    assert installed.cost(soc, unit, pattern).call_cycles == 20
    assert installed.cost(fitted, unit, pattern).call_cycles == 99
