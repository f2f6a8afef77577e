"""A region as the engine's graph in JSON, the argument of ``match_dnnl_load``."""

from __future__ import annotations

from collections.abc import Callable

from match_core import RegionCode, RegionRequest
from match_core.contract.model import qualified_op
from match_regions.graph import json_graph

from match_dnnl import lower_dense, lower_spatial
from match_dnnl.chains import Chain, chains_of
from match_dnnl.engine import Engine
from match_dnnl.functions import posts_of
from match_dnnl.posts import BINARY

Lower = Callable[[Engine, Chain], None]

#: The lowering of each operator, except functions of one value.
OPERATORS: dict[str, Lower] = {
    "AveragePool": lower_spatial.pooling,
    "BatchNormalization": lower_spatial.batch_normalization,
    "Concat": lower_dense.concat,
    "Conv": lower_spatial.convolution,
    "ConvTranspose": lower_spatial.deconvolution,
    "Flatten": lower_dense.view,
    "Gemm": lower_dense.gemm,
    "LRN": lower_spatial.lrn,
    "LayerNormalization": lower_dense.layer_normalization,
    "LogSoftmax": lower_dense.softmax,
    "MatMul": lower_dense.matmul,
    "MaxPool": lower_spatial.pooling,
    "Pad": lower_spatial.padding,
    "Reshape": lower_dense.view,
    "Resize": lower_spatial.resampling,
    "Softmax": lower_dense.softmax,
    "Squeeze": lower_dense.view,
    "Transpose": lower_dense.transpose,
    "Unsqueeze": lower_dense.view,
    "match.nhwc::AveragePool": lower_spatial.pooling,
    "match.nhwc::Conv": lower_spatial.convolution,
    "match.nhwc::MaxPool": lower_spatial.pooling,
    **dict.fromkeys(lower_dense.REDUCTIONS, lower_dense.reduction),
    **dict.fromkeys(BINARY, lower_dense.binary),
}


def compile_region(request: RegionRequest, winograd: bool = True) -> RegionCode:
    """The code of a region whose nodes all fulfil the rules."""
    engine = Engine(request.region, winograd)
    for chain in chains_of(request.region):
        posts = posts_of(chain.node)
        lower = lower_dense.elementwise if posts is not None else OPERATORS[qualified_op(chain.node)]
        lower(engine, chain)
    region = engine.finished()
    return RegionCode(
        format="json",
        content=json_graph(region),
        load="match_dnnl_load",
        run="match_dnnl_run",
        unload="match_dnnl_unload",
        constants=tuple(tensor.values for tensor in region.constants),
    )
