"""Operators of ``ai.onnx.ml`` on numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from match_core.load.written.writer import UnknownFormError, Writer


def _array_feature_extractor(w: Writer) -> None:
    shape, count = w.shape(0), int(np.prod(w.shape(1)))
    chosen = w.emit("Gather", "in0", w.emit("Reshape", "in1", w.axes(-1)), axis=-1)
    w.result(0, w.emit("Reshape", chosen, w.axes(*(shape[:-1] if len(shape) > 1 else (1,)), count)))


def _binarizer(w: Writer) -> None:
    above = w.emit("Greater", "in0", w.like(w.attribute("threshold", 0.0)))
    w.result(0, w.emit("CastLike", above, "in0"))


def _float(w: Writer) -> str:
    """The input as real numbers: float32, or float64 if it is float64."""
    import onnx

    element = w.element(0)
    return "in0" if element in (onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE) else w.emit("Cast", "in0", to=1)


def _real(w: Writer) -> type[np.generic]:
    return np.float64 if w.dtype(0) == np.float64 else np.float32


def _scaler(w: Writer) -> None:
    offset, scale = (w.attribute(name, None) for name in ("offset", "scale"))
    value = w.emit("Cast", "in0", to=1)
    if offset is not None:
        value = w.emit("Sub", value, w.constant(offset, np.float32))
    w.result(0, value if scale is None else w.emit("Mul", value, w.constant(scale, np.float32)))


def _normalizer(w: Writer) -> None:
    kind, value = w.attribute("norm", "MAX"), w.emit("Cast", "in0", to=1)
    reduction = {"MAX": "ReduceMax", "L1": "ReduceL1", "L2": "ReduceL2"}.get(kind)
    if reduction is None:
        raise UnknownFormError(f"norm is {kind}")
    read = w.emit("Abs", value) if kind == "MAX" else value
    size = w.emit(reduction, read, w.axes(-1), keepdims=1)
    w.result(0, w.emit("Div", value, w.emit("Max", size, w.constant(1e-30, np.float32))))


def _imputer(w: Writer) -> None:
    floats = w.attribute("imputed_value_floats", [])
    values = floats or w.attribute("imputed_value_int64s", [])
    replaced = w.attribute("replaced_value_float" if floats else "replaced_value_int64", 0)
    if not values:
        raise UnknownFormError("it has no values")
    missing = w.emit("IsNaN", "in0") if np.isnan(replaced) else w.emit("Equal", "in0", w.like(replaced))
    w.result(0, w.emit("Where", missing, w.like(values), "in0"))


def _feature_vectorizer(w: Writer) -> None:
    sizes = w.attribute("inputdimensions", [])
    parts = []
    for position, size in enumerate(sizes):
        rows, *rest = w.shape(position) if w.rank(position) > 1 else (1, *w.shape(position))
        count = int(np.prod(rest))
        if size > count:
            raise UnknownFormError("an input is shorter than its dimension")
        flat = w.emit("Reshape", w.emit("Cast", w.input(position), to=1), w.axes(rows, count))
        parts.append(flat if size == count else w.emit("Slice", flat, w.axes(0), w.axes(size), w.axes(1)))
    w.result(0, w.emit("Concat", *parts, axis=1))


def _one_hot_encoder(w: Writer) -> None:
    categories = w.attribute("cats_int64s", [])
    if not categories:
        raise UnknownFormError("categories are strings")
    column = w.emit("Unsqueeze", w.emit("Cast", "in0", to=7), w.axes(-1))
    same = w.emit("Equal", column, w.constant(categories, np.int64))
    w.result(0, w.emit("Cast", same, to=1))


def _label_encoder(w: Writer) -> None:
    """A chain of selections, one per key; the first key comes last, so it wins."""
    kinds = (("int64s", np.int64), ("floats", np.float32))
    keys = next((w.attribute(f"keys_{name}", None) for name, _ in kinds if w.attribute(f"keys_{name}", None)), None)
    found = next(((w.attribute(f"values_{n}", None), n, t) for n, t in kinds if w.attribute(f"values_{n}", None)), None)
    if not keys or found is None or len(keys) > 256:
        raise UnknownFormError("keys or values are strings, or there are too many")
    values, name, dtype = found
    default = w.attribute(f"default_{name.removesuffix('s')}", -1 if dtype is np.int64 else 0.0)
    result = w.emit("Expand", w.constant(default, dtype), w.axes(*w.shape(0)))
    for key, value in reversed(list(zip(keys, values, strict=True))):
        unknown = isinstance(key, float) and np.isnan(key)
        same = w.emit("IsNaN", "in0") if unknown else w.emit("Equal", "in0", w.like(key))
        result = w.emit("Where", same, w.constant(value, dtype), result)
    w.result(0, result)


def _transformed(w: Writer, scores: str) -> str:
    """The scores after ``post_transform``."""
    kind = w.attribute("post_transform", "NONE")
    if kind == "NONE":
        return scores
    if kind == "LOGISTIC":
        return w.emit("Sigmoid", scores)
    if kind == "SOFTMAX":
        return w.emit("Softmax", scores, axis=-1)
    raise UnknownFormError(f"post_transform is {kind}")


def _product(w: Writer, rows: int) -> str:
    """The input times the rows of coefficients, plus the intercepts."""
    coefficients = np.array(w.attribute("coefficients", []), _real(w)).reshape(rows, -1)
    product = w.emit("MatMul", _float(w), w.constant(coefficients.T, _real(w)))
    intercepts = w.attribute("intercepts", None)
    return product if not intercepts else w.emit("Add", product, w.constant(intercepts, _real(w)))


def _linear_regressor(w: Writer) -> None:
    w.result(0, _transformed(w, _product(w, w.attribute("targets", 1))))


def _linear_classifier(w: Writer) -> None:
    labels = w.attribute("classlabels_ints", [])
    if not labels or w.rank(0) != 2:
        raise UnknownFormError("labels are strings")
    rows = len(w.attribute("coefficients", [])) // w.shape(0)[1]
    scores = _product(w, rows)
    if rows == 1 and len(labels) == 2:
        scores = w.emit("Concat", w.emit("Neg", scores), scores, axis=1)
    elif rows == 1:
        raise UnknownFormError("it has only one class")
    scores = _transformed(w, scores)
    best = w.emit("ArgMax", scores, axis=1, keepdims=0)
    w.result(0, w.emit("Gather", w.constant(labels, np.int64), best))
    w.result(1, scores)


def _similarities(w: Writer, vectors: NDArray[np.float32]) -> str:
    """The kernel of every row of the input with every support vector [rows, vectors]."""
    kind = w.attribute("kernel_type", "LINEAR")
    gamma, offset, degree = (*w.attribute("kernel_params", []), 0.0, 0.0, 0.0)[:3]
    if kind == "RBF":  # computes distances directly: products would cancel
        rows = w.emit("Unsqueeze", _float(w), w.axes(1))
        apart = w.emit("Sub", rows, w.constant(vectors, _real(w)))
        distance = w.emit("ReduceSum", w.emit("Mul", apart, apart), w.axes(2), keepdims=0)
        return w.emit("Exp", w.emit("Mul", distance, w.constant(-gamma, _real(w))))
    products = w.emit("MatMul", _float(w), w.constant(vectors.T, _real(w)))
    if kind == "LINEAR":
        return products
    moved = w.emit("Add", w.emit("Mul", products, w.constant(gamma, _real(w))), w.constant(offset, _real(w)))
    if kind == "POLY":
        return w.emit("Pow", moved, w.constant(int(degree), _real(w)))
    if kind == "SIGMOID":
        return w.emit("Tanh", moved)
    raise UnknownFormError(f"kernel_type is {kind}")


def _svm_regressor(w: Writer) -> None:
    """A weighted sum of similarities to support vectors, or of the features if there are no vectors."""
    if w.attribute("post_transform", "NONE") != "NONE" or w.rank(0) != 2:
        raise UnknownFormError("the result is transformed, or the input is not a matrix")
    supports, weights = w.attribute("n_supports", 0), np.array(w.attribute("coefficients", []), np.float32)
    if supports > 0:
        vectors = np.array(w.attribute("support_vectors", []), np.float32).reshape(supports, -1)
        read = _similarities(w, vectors)
    else:
        read = _float(w)
    total = w.emit("MatMul", read, w.constant(weights.reshape(-1, 1), _real(w)))
    total = w.emit("Add", total, w.constant(w.attribute("rho", [0.0])[0], _real(w)))
    if w.attribute("one_class", 0):
        inside = w.emit("Greater", total, w.constant(0, _real(w)))
        total = w.emit("Where", inside, w.constant(1, _real(w)), w.constant(-1, _real(w)))
    w.result(0, total)


MACHINE_LEARNING: Mapping[str, Callable[[Writer], None]] = {
    "ArrayFeatureExtractor": _array_feature_extractor,
    "Binarizer": _binarizer,
    "FeatureVectorizer": _feature_vectorizer,
    "Imputer": _imputer,
    "LabelEncoder": _label_encoder,
    "LinearClassifier": _linear_classifier,
    "LinearRegressor": _linear_regressor,
    "Normalizer": _normalizer,
    "OneHotEncoder": _one_hot_encoder,
    "SVMRegressor": _svm_regressor,
    "Scaler": _scaler,
}
