"""The stored networks, all passes: what changes, by how much, measured against the originals on all stored samples."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from match_core.contract.model import qualified_op
from match_core.contract.passes import Phase
from match_core.passes.pipeline import run_passes
from match_verify.reference import ReferenceRunner

from tests.all_passes import core_passes
from tests.operator_distance import operator_distances
from tests.pass_checks import VerifyPass
from tests.tiers import in_ci

NETWORKS = ("resnet8", "dscnn", "mobilenetv1_025", "autoencoder")
QUANTISED = [f"mlperf_{network}_int8_{form}" for network in NETWORKS for form in ("qdq", "qop")]
FLOAT_LEFT = {"Conv", "Gemm", "MatMul", "Add", "Relu", "DequantizeLinear", "AveragePool", "Softmax"}


def lower(model, context, *observers):
    return run_passes(model, core_passes(context.soc, context.units), context, observers)


def ops(model) -> set[str]:
    return {qualified_op(node) for node in model.graph.nodes}


def distances(model, samples, context):
    passes = [item for item in core_passes(context.soc, context.units) if item.phase < Phase.LAYOUT]
    return operator_distances(model, run_passes(model, passes, context), samples)


@pytest.mark.parametrize("name", QUANTISED)
def test_every_operator_is_close_to_the_original(shared, accelerated, name, record_property):
    """Fed the original's own tensors: within 1 LSB, at most 0.5 % of the values differ."""
    model, samples = shared(name)
    found = distances(model, samples, accelerated)
    worst = max(found, key=lambda d: d.share)
    print(f"{name}: {len(found)} operators, worst {worst.tensor} ({worst.nodes[-1]}): {100 * worst.share:.3f} % differ")
    record_property("worst_share", worst.share)
    assert len(found) >= 9
    for distance in found:
        assert distance.max_abs_lsb <= 1, distance
        assert distance.share <= 0.005, distance


@pytest.mark.parametrize("name", QUANTISED)
def test_fast_arithmetic_is_close_too(shared, fast, name):
    """With 32-bit products alone: within 1 LSB; the guess of the accumulators keeps the share below 0.8 %."""
    model, samples = shared(name)
    found = distances(model, samples, fast)
    for distance in found:
        assert distance.max_abs_lsb <= 1, distance
        assert distance.share <= 0.008, distance
    worst = max(found, key=lambda d: d.share)
    print(f"{name}, fast: worst {worst.tensor}: {100 * worst.share:.3f} % differ")


@pytest.mark.parametrize("name", QUANTISED)
def test_end_to_end(shared, accelerated, name):
    """The whole network on its own: mean distance at most 1 LSB, top-1 of classifiers agrees on 95 %."""
    model, samples = shared(name)
    lowered = lower(model, accelerated)
    assert not ops(lowered) & FLOAT_LEFT, "everything has an integer form"
    before, after = ReferenceRunner(model), ReferenceRunner(lowered)
    total, agree = [], 0
    for sample in samples:
        (expected,), (got,) = before.run(sample).values(), after.run(sample).values()
        total.append(np.abs(expected.astype(np.int64) - got.astype(np.int64)))
        agree += int(np.argmax(expected) == np.argmax(got))
    mean, largest = float(np.mean(total)), int(np.max(total))
    print(f"{name}: mean {mean:.3f} LSB, max {largest}, top-1 {agree}/{len(samples)}")
    assert mean <= 1.0
    if "autoencoder" not in name:
        assert agree >= 0.95 * len(samples)


@pytest.mark.parametrize("network", in_ci((*NETWORKS, "streaming_wakeword"), lambda name: "mobile" not in name))
@pytest.mark.parametrize("context_name", ["accelerated", "host_only"])
def test_integer_networks_keep_every_bit(shared, request, network, context_name):
    model, samples = shared(f"mlperf_{network}_int8_int")
    lowered = lower(model, request.getfixturevalue(context_name), VerifyPass(samples[0]))
    before, after = ReferenceRunner(model), ReferenceRunner(lowered)
    for sample in samples:
        for expected, got in zip(before.run(sample).values(), after.run(sample).values(), strict=True):
            assert np.array_equal(expected, got)


@pytest.mark.parametrize(
    "name",
    [
        *(f"mlperf_{network}_f32" for network in NETWORKS),
        "mlperf_dscnn_w8f32",
        "resnet50_block1_bn_f32",
        "resnet18_cifar10_w16_f32",
        "transformer_enc128_f32",
    ],
)
def test_float_networks(shared, accelerated, name):
    """Every pass within 1e-5, and no batch normalisation or quantiser is left."""
    model, samples = shared(name)
    lowered = lower(model, accelerated, VerifyPass(samples[0]))
    assert not ops(lowered) & {"BatchNormalization", "Identity", "DequantizeLinear", "GlobalAveragePool", "Pad"}
    before, after = ReferenceRunner(model).run(samples[-1]), ReferenceRunner(lowered).run(samples[-1])
    for expected, got in zip(before.values(), after.values(), strict=True):
        assert np.max(np.abs(expected - got)) <= 3e-5 * np.max(np.abs(expected))


MICRO = ("16x16_c16", "16x16_c64", "2x2_c1", "32x32_c16", "8x8_c64")


@pytest.mark.parametrize("kind", ["std", "dw"])
@pytest.mark.parametrize("size", MICRO)
def test_micro_benchmarks(shared, accelerated, kind, size):
    for form in ("qdq", "int"):
        model, samples = shared(f"micro_conv_{kind}_{size}_{form}")
        lowered = lower(model, accelerated, VerifyPass(samples[0]))
        assert {"match.nhwc::ConvInteger", "match.arith::RequantU8"} <= ops(lowered)
        before, after = ReferenceRunner(model), ReferenceRunner(lowered)
        for sample in samples:
            (expected,), (got,) = before.run(sample).values(), after.run(sample).values()
            distance = np.abs(expected.astype(np.int64) - got.astype(np.int64))
            assert distance.max() <= (0 if form == "int" else 1)
            assert np.count_nonzero(distance) <= 0.005 * distance.size


ATTENTION = (
    "mobilebert_l1_int8_qdq",
    "dinov2_small_l1_int8_qdq",
    "whisper_tiny_l1_int8_qdq",
    "ita_mobilebert_l1_int8_pc_qdq",
)


@pytest.mark.parametrize("name", in_ci(ATTENTION, lambda name: name.startswith("ita_")))
def test_attention_networks(shared, accelerated, name):
    """Everything between the ends is integer; with precision fast, normalisation stays float."""
    model, samples = shared(name)
    lowered = lower(model, accelerated, VerifyPass(samples[0]))
    assert {"MatMulInteger", "match.arith::RequantU8", "match.arith::SoftmaxU8"} <= ops(lowered)
    left = {"LayerNormalization", "QuantizeLinear", "DequantizeLinear"}
    assert [node.op for node in lowered.graph.nodes if node.op in left] == ["QuantizeLinear", "DequantizeLinear"]
    fast = lower(model, replace(accelerated, precision="fast"))
    assert not {node.op for node in fast.graph.nodes if node.outputs[0].dtype == np.float32} - left
    norms = sum(node.op == "LayerNormalization" for node in fast.graph.nodes)
    assert sum(node.op in left for node in fast.graph.nodes) == 3 * norms + 2, "one pair each, and one at the ends"
    for distance in distances(model, samples[:1], accelerated):
        chain = any(node.endswith("LayerNorm/Mul") for node in distance.nodes)  # two roundings of MobileBERT become one
        assert distance.max_abs_lsb <= (3 if chain else 1), distance
        assert distance.share <= (0.3 if chain else 0.001), distance
    before, after = ReferenceRunner(model).run(samples[0]), ReferenceRunner(lowered).run(samples[0])
    for expected, got in zip(before.values(), after.values(), strict=True):
        a, b = expected.astype(np.float64).reshape(-1), got.astype(np.float64).reshape(-1)
        assert a @ b >= 0.9995 * np.linalg.norm(a) * np.linalg.norm(b)


def test_lowering_twice_gives_the_same_bytes(shared, accelerated):
    model, _ = shared("mlperf_resnet8_int8_qdq")
    first, second = lower(model, accelerated), lower(model, accelerated)
    assert first.to_onnx().SerializeToString(deterministic=True) == second.to_onnx().SerializeToString(
        deterministic=True
    )
    assert first.provenance == second.provenance


def test_every_node_knows_its_source(shared, accelerated):
    model, _ = shared("mlperf_dscnn_int8_qdq")
    lowered = lower(model, accelerated)
    sources = {name for origin in model.provenance.values() for name in origin}
    for node in lowered.graph.nodes:
        origin = lowered.origin([node])
        assert origin and set(origin) <= sources, (node.name, origin)
        assert all(tensor.dtype is not None and tensor.shape is not None for tensor in node.outputs)
