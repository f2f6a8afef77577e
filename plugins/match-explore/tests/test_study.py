"""Bad studies end in coded errors before the first task; good ones become the points that their targets have."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from match_core.contract.errors import MatchError
from match_core.plugin.facade import Plugins
from match_explore.document import read_study
from match_explore.front import front, hypervolume
from match_explore.order import sketching
from match_explore.space import points_of

MakeStudy = Callable[..., Path]


@pytest.fixture(scope="module")
def plugins() -> Plugins:
    return Plugins.load()


@pytest.mark.parametrize(
    ("text", "changes", "code"),
    [
        ("[axes]\nmemory.l9 = [1024]", {}, "MATCH-U111"),
        ("[axes]\nmemmory.l1 = [1024]", {}, "MATCH-U111"),
        ("[axes]\nmemory.l1 = ['0%']", {}, "MATCH-U111"),
        ("[axes]\nmemory.l1 = [1024, 1024]", {}, "MATCH-U111"),
        ("[axes]\nprecision = ['exactly']", {}, "MATCH-U111"),
        ("[axes]\nquantized_io = [1]", {}, "MATCH-U111"),
        ("[axes]\npreset = ['none']", {}, "MATCH-U025"),
        ("[axes]\nunits = [['cluster', 'npu']]", {}, "MATCH-U020"),
        ("[what_if]\nfigure.cluster.cores = [4]", {}, "MATCH-U111"),
        ("[what_if]\nmemory.l1 = [4]", {}, "MATCH-U111"),
        ("[what_if]\nclock_hz = [-1]", {}, "MATCH-U111"),
        ("", {"models": '["no.onnx"]'}, "MATCH-U112"),
        ("inputs = 'no.npz'", {}, "MATCH-U112"),
        ("", {"targets": '["gap99"]'}, "MATCH-U022"),
        ("", {"targets": "[]"}, "MATCH-U110"),
        ("objectives = ['speed']", {}, "MATCH-U113"),
        ("objectives = ['cycles', 'cycles']", {}, "MATCH-U113"),
        ("objectives = ['accuracy']", {}, "MATCH-U113"),
        ("[constraints]\nlatency = {min = '2ms', max = '1ms'}", {}, "MATCH-U113"),
        ("[constraints]\ncycles = -1", {}, "MATCH-U113"),
        ("[constraints]\nspeed = 1", {}, "MATCH-U113"),
        ("[constraints]\nlatency = 'soon'", {}, "MATCH-U113"),
        ("[strategy]\nkind = 'guess'", {}, "MATCH-U110"),
        ("[strategy]\nkind = 'search'", {}, "MATCH-U110"),
        ("[limits]\ntime = '0s'", {}, "MATCH-U110"),
        ("[targets.gap9]\nprice = 3", {}, "MATCH-U110"),
        ("evaluate = 'guess'", {}, "MATCH-U110"),
        ("[axes]\nmemory.l1 = ['1GB']", {}, "MATCH-U111"),
        ("= 3", {}, "MATCH-U110"),
        ("[tasks]", {}, "MATCH-U110"),
    ],
)
def test_a_bad_study_has_a_coded_error(
    make_study: MakeStudy, plugins: Plugins, text: str, changes: dict[str, str], code: str
) -> None:
    with pytest.raises(MatchError) as caught:
        points_of(read_study(make_study(text, **changes)), plugins)
    assert caught.value.code == code
    assert caught.value.why and caught.value.help


def test_points_are_those_that_the_targets_have(make_study: MakeStudy, plugins: Plugins) -> None:
    text = "[axes]\nmemory.level1 = ['8KiB', '64KiB', '256KiB']\nprecision = ['exact', 'fast']"
    study = read_study(make_study(text, targets='["gap9", "diana", "host"]'))
    points = points_of(study, plugins)
    counts = {target: sum(point.target == target for point in points) for target in ("gap9", "diana", "host")}
    assert counts == {"gap9": 4, "diana": 6, "host": 2}  # gap9 has 114 KiB; the host has no such memory
    assert {dict(p.options)["memory"].get("l1") for p in points if p.target == "diana"} == {8192, 65536, 262144}
    assert len({point.key("") for point in points}) == len(points)


def test_a_share_is_of_what_the_target_has(make_study: MakeStudy, plugins: Plugins) -> None:
    points = points_of(read_study(make_study("[axes]\nmemory.l1 = ['50%', '100%']")), plugins)
    assert [dict(point.options)["memory"] for point in points] == [{"l1": 58368}, {"l1": 116736}]


def test_what_if_is_only_what_differs(make_study: MakeStudy, plugins: Plugins) -> None:
    text = "[what_if]\nfigure.cluster.core_count = [4, 8]\ncapacity.l1 = ['114KiB', '256KiB']"
    points = points_of(read_study(make_study(text)), plugins)
    assert [len(point.what_if) for point in points] == [1, 2, 0, 1]


def test_the_first_points_are_the_ends_of_the_axes(make_study: MakeStudy, plugins: Plugins) -> None:
    text = "[axes]\nmemory.l1 = ['10%', '20%', '30%', '40%', '50%']\nprecision = ['exact', 'fast']"
    order = sketching(points_of(read_study(make_study(text)), plugins))
    assert {dict(point.axes)["memory.l1"] for point in order[:4]} == {"10%", "50%"}
    assert {dict(point.axes)["memory.l1"] for point in order[4:6]} == {"30%"}
    assert len(order) == 10


def test_fronts_and_volumes() -> None:
    values = [(1.0, 4.0), (2.0, 2.0), (2.0, 3.0), (4.0, 1.0), (2.0, 2.0), (5.0, 5.0)]
    assert front(values) == (0, 1, 3, 4)
    assert hypervolume(values, (5.0, 5.0)) == pytest.approx(1 * 4 + 0 + 3 + 2 * 2 - 1 + 1)
    assert hypervolume([(1.0, 1.0, 1.0), (0.0, 2.0, 2.0)], (3.0, 3.0, 3.0)) == pytest.approx(8 + 1)
    assert hypervolume([(9.0, 1.0)], (5.0, 5.0)) == 0.0
