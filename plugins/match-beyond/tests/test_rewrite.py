"""Rewritten models compute what the network computes, whatever is divided; a wrong halo does not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx_graphsurgeon as gs
import pytest
from match_beyond.choice import Choice, Chooser, Run
from match_beyond.network import Network
from match_beyond.rewrite import _Have, _Rewriter, rewritten
from match_beyond.rows import Cut, RowRule, Rows
from match_beyond.search import fit
from match_beyond.stripes import crossing_of, extents_of
from match_core import hookimpl
from match_core.contract.errors import InfeasibleError, ToolError
from match_core.contract.fitting import Fit, FitRequest
from match_core.contract.mapping import Assignment
from match_core.contract.model import Model
from match_core.contract.observe import NullObserver
from match_core.pipeline import CompileRequest, compile_model
from match_core.plugin.discovery import Found
from match_core.plugin.facade import Plugins
from match_verify.reference import ReferenceRunner
from numpy.typing import NDArray

from benchmarks.large_networks import NetworkBuilder, unet


class Spy:
    """Keeps the request and leaves the model to nobody."""

    match_contract = 1

    def __init__(self) -> None:
        self.requests: list[FitRequest] = []

    @hookimpl
    def match_fit(self, request: FitRequest) -> Fit | None:
        """No model."""
        self.requests.append(request)
        return Fit(None)


def random_network(path: Path, seed: int) -> Path:
    """Convolutions of all kinds with a residual, a pooling and an upsampling."""
    generator = np.random.default_rng(seed)
    builder = NetworkBuilder(seed, (4, 24, 24))
    x = builder.conv(builder.input, 8, 3)
    for _ in range(3):
        kernel, stride = int(generator.choice([1, 3, 5])), int(generator.choice([1, 1, 2]))
        before = x
        x = builder.conv(x, 8, kernel, stride, groups=8 if kernel == 3 else 1, relu=str(generator.choice(["", "relu"])))
        x = builder.add(before, x) if stride == 1 else builder.upsample(x)
    return builder.save(path, builder.conv(builder.max_pool(x, 2, 2), 4, 1, relu=""))


def request_of(path: Path, l2_bytes: int = 4096) -> FitRequest:
    spy = Spy()
    with pytest.raises(InfeasibleError):
        compile_model(
            CompileRequest(path, "gap9", memory=(("l2", l2_bytes),)),
            Plugins.load((Found("spy", "spy", "0", lambda: spy),)),
            NullObserver(),
        )
    return spy.requests[0]


def outputs(model: Model) -> list[NDArray[np.generic]]:
    generator = np.random.default_rng(1)
    feeds = {t.name: generator.integers(-128, 127, t.shape).astype(np.int8) for t in model.graph.inputs}
    return list(ReferenceRunner(model.to_onnx()).run(feeds).values())


def choices(request: FitRequest, network: Network) -> list[Choice]:
    link = request.soc.link_between("l2", "l3")
    assert link is not None
    chooser = Chooser(network, link)
    sizes = (network.sizes[name] for name in network.made)
    most = max(sizes)
    found = (chooser.choose(capacity) for capacity in (2 * most, most, most // 2, most // 3))
    return [choice for choice in dict.fromkeys(found) if choice is not None and len(choice.runs) != len(network.layers)]


@pytest.mark.parametrize("seed", range(3))
def test_rewritten_models_compute_the_same(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    request = request_of(random_network(tmp_path / "net.onnx", seed))
    network = Network.of(request.model, request.mapping)
    expected = outputs(request.model)
    found = choices(request, network)
    assert found
    for choice in found:
        model = rewritten(request.model, network, choice)
        assert model.parts
        for one, other in zip(expected, outputs(model), strict=True):
            np.testing.assert_array_equal(one, other)
    right = RowRule.cut

    def shifted(rule: RowRule, rows: Rows) -> Cut:
        cut = right(rule, rows)
        halo = rule.span > 1 and cut.read.first > 0
        return replace(cut, read=Rows(cut.read.first - 1, cut.read.end - 1)) if halo else cut

    monkeypatch.setattr(RowRule, "cut", shifted)
    try:
        wrong = outputs(rewritten(request.model, network, found[-1]))
    except ToolError:  # rows that do not exist
        return
    assert any((one != other).any() for one, other in zip(expected, wrong, strict=True))


def kept_choices(network: Network) -> list[Choice]:
    """The longest runs in four stripes that keep all rows between layers, the other layers whole."""
    found = []
    count = len(network.layers)
    for first, end in ((low, high) for low in range(count) for high in range(low + 3, count + 1)):
        if all(layer.steps for layer in network.layers[first:end]):
            inner = {name for layer in network.layers[first:end] for name in layer.makes}
            inner -= set(crossing_of(network, first, end))
            extents = extents_of(network, first, end, (4,), inner)
            if extents is not None and extents.legal[0]:
                whole = [Run(n, n + 1, 1) for n in range(count)]
                runs = (*whole[:first], Run(first, end, 4, frozenset(inner)), *whole[end:])
                found.append(Choice(runs, frozenset(), 0))
    return sorted(found, key=lambda choice: len(choice.runs))[:3]


@pytest.mark.parametrize("seed", range(3))
def test_kept_rows_are_those_of_the_stripe_before(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    request = request_of(random_network(tmp_path / "net.onnx", seed))
    network = Network.of(request.model, request.mapping)
    expected = outputs(request.model)
    found = kept_choices(network)
    models = [rewritten(request.model, network, choice) for choice in found]
    copies = [node for model in models for node in model.graph.nodes if "_kept" in node.name]
    assert copies and not any(node.name in model.parts for node in copies for model in models)
    for model in models:
        for one, other in zip(expected, outputs(model), strict=True):
            np.testing.assert_array_equal(one, other)

    right = _Rewriter._copied

    def early(self: _Rewriter, have: _Have, rows: Rows, name: str, node: gs.Node) -> _Have:
        shift = rows.first > have.rows.first
        return replace(right(self, have, Rows(rows.first - shift, rows.end - shift), name, node), rows=rows)

    monkeypatch.setattr(_Rewriter, "_copied", early)
    wrong = [outputs(rewritten(request.model, network, choice)) for choice in found]
    assert any((one != other).any() for made in wrong for one, other in zip(expected, made, strict=True))


@pytest.mark.parametrize("dearer", [10**9, None])
def test_stripes_alone_are_tried_where_tensors_in_the_store_disappoint(tmp_path: Path, dearer: int | None) -> None:
    """Estimates of choices know no constants: a program with tensors in the store may be slower, or not fit."""
    request = request_of(unet(tmp_path / "unet.onnx", size=32, width=8, levels=1), 24_000)
    seen: list[Model] = []

    def attempt(model: Model, _: tuple[Assignment, ...]) -> int | None:
        seen.append(model)
        return dearer if model.away else 10**8

    found = fit(replace(request, attempt=attempt))
    assert seen[0].away
    assert found is not None and found.model is not None
    assert not found.model.away
