"""Several samples at once become layers with batch size 1 that compute the same."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from match_core.load.load import load_model
from match_verify.reference import ReferenceRunner

X = np.random.default_rng(3).standard_normal((3, 4, 6, 6)).astype(np.float32)
LAYERS = {
    "convolution": ("Conv <group = 2, pads = [1, 1, 1, 1]> (x, w)", [3, 2, 6, 6]),
    "transposed convolution": ("ConvTranspose <strides = [2, 2]> (x, t)", [3, 1, 13, 13]),
    "maximum": ("MaxPool <kernel_shape = [3, 3], strides = [2, 2]> (x)", [3, 4, 2, 2]),
    "mean": ("GlobalAveragePool (x)", [3, 4, 1, 1]),
}


@pytest.mark.parametrize("name", LAYERS)
def test_samples_one_by_one(saved, name):
    layer, shape = LAYERS[name]
    sizes = ",".join(map(str, shape))
    weights = ", ".join(["0.5", "-1.0", "2.0"] * 12)
    turned = ", ".join(["0.25", "-0.5", "1.0"] * 12)
    text = f"""<ir_version: 8, opset_import: ["" : 17]> g (float[3,4,6,6] x) => (float[{sizes}] y)
    <float[2,2,3,3] w = {{{weights}}}, float[4,1,3,3] t = {{{turned}}}> {{ [layer] y = {layer} }}"""
    path = saved(text)
    model = load_model(path)
    spatial = [
        node for node in model.graph.nodes if node.op in ("Conv", "ConvTranspose", "MaxPool", "GlobalAveragePool")
    ]
    assert all(node.inputs[0].shape[0] == 1 for node in spatial)
    assert all(model.provenance[node.name] == ("layer",) for node in model.graph.nodes)
    wanted = ReferenceRunner(onnx.load(path)).run({"x": X})["y"]
    np.testing.assert_allclose(ReferenceRunner(model).run({"x": X})["y"], wanted, rtol=1e-5, atol=1e-5)
