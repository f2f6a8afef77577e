"""ONNX's own shape inference, which a hostile model may keep busy for ever."""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import onnx

#: Of one inference: large networks take seconds (an estimate). Numbers and nodes that make no inference long.
LIMIT_SECONDS, CALM_NUMBER, CALM_NODES = 60.0, 1 << 20, 2000


def inferred(proto: onnx.ModelProto, strict: bool = True) -> onnx.ModelProto:
    """A copy with types and shapes, including sizes that bodies of functions compute. It omits the latter if inference
    fails on them, because it mistakes rows of data for sizes and finds ranks that contradict each other. Not
    ``strict``: with what can be inferred, whatever contradicts it.

    Errors: onnx.shape_inference.InferenceError (shapes or types contradict each other, or no end in LIMIT_SECONDS).
    """
    import onnx

    if _is_calm(proto) or not hasattr(os, "fork"):
        return _inferred(proto, strict)
    result, found = onnx.ModelProto(), onnx.GraphProto()
    found.ParseFromString(_limited(lambda: _results(_inferred(proto, strict)).SerializeToString()))
    result.CopyFrom(proto)
    for field in ("value_info", "output"):
        result.graph.ClearField(field)
        getattr(result.graph, field).extend(getattr(found, field))
    return result


def _inferred(proto: onnx.ModelProto, strict: bool) -> onnx.ModelProto:
    import onnx

    if not strict:
        return onnx.shape_inference.infer_shapes(proto)
    try:
        return onnx.shape_inference.infer_shapes(proto, check_type=True, strict_mode=True, data_prop=True)
    except onnx.shape_inference.InferenceError:
        return onnx.shape_inference.infer_shapes(proto, check_type=True, strict_mode=True)


def _results(proto: onnx.ModelProto) -> onnx.GraphProto:
    import onnx

    return onnx.GraphProto(value_info=proto.graph.value_info, output=proto.graph.output)


def _is_calm(proto: onnx.ModelProto) -> bool:
    """Whether there are few nodes and no large numbers, which inference may count to."""
    return len(proto.graph.node) <= CALM_NODES and all(abs(number) <= CALM_NUMBER for number in _numbers(proto))


def _numbers(proto: onnx.ModelProto) -> Iterator[int]:
    """Integers of attributes and of constants that may be sizes; for other graphs inside, one that is large."""
    import onnx

    tensors = list(proto.graph.initializer)
    for attribute in (attribute for node in proto.graph.node for attribute in node.attribute):
        yield from (attribute.i, *attribute.ints)
        tensors += [attribute.t] if attribute.HasField("t") else []
        yield CALM_NUMBER + 1 if attribute.HasField("g") or attribute.graphs else 0
    for tensor in tensors:
        if tensor.data_type == onnx.TensorProto.INT64 and len(tensor.dims) < 2 and sum(tensor.dims) <= CALM_NODES:
            yield from map(int, onnx.numpy_helper.to_array(tensor).reshape(-1))


def _limited(work: Callable[[], bytes]) -> bytes:
    """What ``work`` returns, from a process of its own. Errors: InferenceError, whatever went wrong there."""
    import onnx

    receiver, sender = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            answer = b"+" + work()
        except BaseException as error:  # the process ends here, whatever it is
            answer = b"-" + f"{error}".encode("utf-8", "replace")
        with os.fdopen(sender, "wb") as file:
            file.write(answer)
            file.flush()
            os._exit(0)
    os.close(sender)
    parts, end = [b""], time.monotonic() + LIMIT_SECONDS
    try:
        while select.select([receiver], [], [], max(0.0, end - time.monotonic()))[0]:
            parts.append(os.read(receiver, 1 << 20))
            if not parts[-1]:
                break
        else:
            raise onnx.shape_inference.InferenceError(f"inference did not end within {LIMIT_SECONDS:g} s")
    finally:
        os.close(receiver)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    answer = b"".join(parts)
    if answer[:1] != b"+":
        why = answer[1:].decode("utf-8", "replace") or "inference ended its process"
        raise onnx.shape_inference.InferenceError(why)
    return answer[1:]
