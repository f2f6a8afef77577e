"""From claims to programs that run: a small engine, random networks, limits, criteria and what the user asks for."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import onnx
import onnx.parser
import pytest
from match_core.contract.observe import NullObserver
from match_core.pipeline import CompileRequest, build_program
from match_core.summary.document import NAME
from match_report.advice.check import check_model
from match_report.advice.explain import explain_node
from match_verify.verify import VerifyRequest, verify_model

from core.tests.regions.engine_plugin import plugin

if TYPE_CHECKING:
    from match_core.contract.compilation import Compilation
    from match_core.plugin.facade import Plugins

    from core.tests.plugin.distributions import Site

CLAIMS = """
from match_core import NodeRule, OperatorClaim, RegionClaims, RegionLimits
from match_regions import region_pattern

def small(node):
    size = prod(node.outputs[0].shape)
    return None if size <= 24 else f"{size} elements"

def worth(region):
    return None if len(region.nodes) >= @WORTH@ else f"{len(region.nodes)} nodes"

CLAIMS = RegionClaims(
    (OperatorClaim("|".join(OPS), (NodeRule("small", "a result has at most 24 elements", small),)),),
    RegionLimits(@LIMITS@),
    worth=worth,
    worth_rule="a region has at least @WORTH@ nodes",
)

@hookimpl
def match_patterns(unit):
    return (region_pattern("engine_region", "elementwise operators", CLAIMS),) if unit.name == "engine" else ()
"""


def loaded(site: Site, limits: str = "", worth: int = 1) -> Plugins:
    site.plugin("engine", plugin("json") + CLAIMS.replace("@LIMITS@", limits).replace("@WORTH@", str(worth)))
    plugins = site.load()
    assert plugins.faults == ()
    return plugins


def saved(folder: Path, body: str, shape: str = "4,6", outputs: tuple[str, ...] = ("z",)) -> Path:
    ends = ", ".join(f"float[{shape}] {name}" for name in outputs)
    text = (
        f'<ir_version: 10, opset_import: ["" : 21]> net (float[{shape}] x, float[{shape}] y) => ({ends}) {{ {body} }}'
    )
    model = onnx.parser.parse_model(text)
    for node in model.graph.node:
        node.name = node.output[0]
    path = folder / "net.onnx"
    onnx.save(model, str(path))
    return path


def random_net(folder: Path, seed: int) -> Path:
    """Twenty-five operators, every fifth of which only the host runs; what nobody reads is an output."""
    random = Random(seed)
    made, lines, read = ["x", "y"], [], set()
    for number in range(25):
        op = "Abs" if random.random() < 0.2 else random.choice(("Add", "Sub", "Mul", "Relu", "Neg"))
        picked = random.choices(made[-6:], k=2 if op in ("Add", "Sub", "Mul") else 1)
        lines.append(f"t{number} = {op} ({', '.join(picked)})")
        made.append(f"t{number}")
        read.update(picked)
    outputs = tuple(name for name in made[2:] if name not in read)
    return saved(folder, "\n".join(lines), outputs=(*outputs, *(("t7",) if "t7" in read else ())))


@pytest.mark.parametrize("limits", ["", "nodes_max=3, outputs_max=1, inputs_max=2"], ids=["free", "limited"])
@pytest.mark.parametrize(("target", "seed"), [("engine_chip", 1), ("engine_chip", 2), ("beside_chip", 3)])
def test_random_networks_compute_what_they_say(site: Site, tmp_path: Path, limits: str, target: str, seed: int) -> None:
    path = random_net(tmp_path, seed)
    execution = "concurrent" if target == "beside_chip" else "sequential"
    request = VerifyRequest(path, target, regions="largest", execution=execution, sanitize=True)
    result = verify_model(request, loaded(site, limits), NullObserver())
    assert result.ok
    units = Counter(a.candidate.unit for a in result.compilation.mapping.assignments)
    assert units["engine"] > (3 if limits else 0)


def compiled(path: Path, plugins: Plugins, **options: Any) -> Compilation:
    return build_program(CompileRequest(path, "engine_chip", cache=False, **options), plugins, NullObserver())


def regions(compilation: Compilation) -> list[str]:
    chosen = compilation.mapping.assignments
    return [" ".join(a.candidate.node_names) for a in chosen if a.candidate.unit == "engine"]


#: A region of three nodes, one that only the host runs, and a region of one.
NET = "a = Add (x, y) b = Relu (a) c = Mul (b, x) h = Abs (c) z = Neg (h)"


def test_what_is_not_worth_it_is_told_and_goes_to_the_host(site: Site, tmp_path: Path) -> None:
    plugins = loaded(site, worth=2)
    path = saved(tmp_path, NET)
    assert regions(compiled(path, plugins, regions="largest")) == ["a b c"]
    found = check_model(CompileRequest(path, "engine_chip", cache=False), plugins)
    assert [(o.unit, o.onnx_names, o.rules) for o in found.obstacles if o.unit == "engine"] == [
        ("engine", ("z",), (("a region has at least 2 nodes", "1 nodes"),))
    ]


def test_the_user_asks_for_more(site: Site, tmp_path: Path) -> None:
    plugins = loaded(site)
    path = saved(tmp_path, NET)
    assert regions(compiled(path, plugins, regions="largest")) == ["a b c", "z"]
    made = compiled(path, plugins, regions="largest", region_min=(("nodes", 2),))
    assert regions(made) == ["a b c"]
    told = [(r.nodes, r.rule, r.value) for r in made.refused if r.unit == "engine"]
    assert told == [(("z",), "a region has at least 2 nodes (--region-min)", "1 node")]
    made = compiled(path, plugins, regions="largest", region_min=(("macs", 1),))
    assert regions(made) == []


def test_the_minimum_is_not_asked_of_what_another_rule_refuses(site: Site, tmp_path: Path) -> None:
    made = compiled(saved(tmp_path, NET), loaded(site, worth=2), region_min=(("nodes", 2),))
    assert [r.rule for r in made.refused if r.unit == "engine"] == ["a region has at least 2 nodes"]


def test_manifest_and_report_state_what_was_asked_for_only(site: Site, tmp_path: Path) -> None:
    plugins = loaded(site)
    path = saved(tmp_path, NET)
    plain, asked = compiled(path, plugins), compiled(path, plugins, regions="largest", region_min=(("nodes", 2),))
    for name in (NAME, "match.lock.json"):
        before, after = (json.loads(text_of(made, name))["options"] for made in (plain, asked))
        assert before.items() <= after.items()
        assert {key: after[key] for key in after.keys() - before.keys()} == {
            "regions": "largest",
            "region_min": {"nodes": 2},
        }


def test_the_report_tells_what_went_to_the_unit(site: Site, tmp_path: Path) -> None:
    plugins = loaded(site)
    path = saved(tmp_path, NET)
    (row,) = json.loads(text_of(compiled(path, plugins, regions="largest"), NAME))["regions"]
    told = {"unit": "engine", "found": 2, "chosen": 2, "nodes": 4, "nodes_total": 5, "macs": 0, "macs_total": 0}
    assert row == told
    (row,) = json.loads(text_of(compiled(path, plugins, region_min=(("nodes", 2),)), NAME))["regions"]
    assert (row["found"], row["nodes_total"]) == (1, 5)
    assert row["chosen"] <= 1 and row["nodes"] == 3 * row["chosen"]
    without = compiled(path, plugins, without_units=("engine",))
    assert json.loads(text_of(without, NAME))["regions"] == []


def text_of(made: Compilation, name: str) -> bytes:
    return next(file.content for file in made.sources.files if file.name == name)


def test_a_rule_that_a_node_breaks_is_explained(site: Site, tmp_path: Path) -> None:
    path = saved(tmp_path, NET, shape="5,5")
    found = explain_node(CompileRequest(path, "engine_chip", cache=False), "b", loaded(site), flips=False)
    assert [(o.unit, o.rules) for o in found.refused] == [
        ("engine", (("a result has at most 24 elements", "25 elements"),))
    ]


def test_the_host_loses_nodes_to_regions_and_explain_says_so(site: Site, tmp_path: Path) -> None:
    path = saved(tmp_path, NET)
    request = CompileRequest(path, "engine_chip", cache=False, regions="largest")
    found = explain_node(request, "b", loaded(site), flips=False)
    assert {(o.unit, o.rules[0][1]) for o in found.refused} == {("host", "engine takes a region of 3 nodes here")}
    assert found.without_pattern == ()
