"""Structure-aware mutations of ONNX models, each a function of a model and a source of random choices."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

import numpy as np
import onnx
from onnx import TensorProto, helper

Model = onnx.ModelProto
INTS = (
    -(1 << 63),
    -(1 << 31),
    -100,
    -3,
    -2,
    -1,
    0,
    1,
    2,
    3,
    4,
    5,
    7,
    8,
    16,
    64,
    65_537,
    1 << 31,
    1 << 40,
    (1 << 63) - 1,
)
FLOATS = (float("nan"), float("inf"), float("-inf"), 0.0, -0.0, -1.0, 0.5, 2.0, 1e-45, 1e38, -1e38)
TEXTS = (b"", b"linear", b"reflect", b"SAME_UPPER", b"reverse", b"max", b"none", b"\xff\xfe", b"a" * 5000, b"x\0y")
NAMES = ("", "x", "y", "a.b", "a/b", "a_b", "int", "main", "run", "1", "\u00e9", "a\nb", "*/", "%s", "n" * 3000, "NULL")
LOCATIONS = ("w.bin", "../w.bin", "/etc/hostname", "", "missing.bin", "link.bin", ".", "w.bin/x", "a\0b", "C:\\w.bin")
TYPES = tuple(TensorProto.DataType.values())


def mutated(model: Model, random: Random) -> tuple[Model, str]:
    """A copy with one to three mutations, and what they were."""
    copy = Model()
    copy.CopyFrom(model)
    told = []
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        change = random.choice(CHANGES)
        try:
            done = change(copy, random)
        except Exception:  # the format cannot state it, or onnx cannot read it
            done = False
        told.append(change.__name__.strip("_") + ("" if done else " (nothing to change)"))
    return copy, ", ".join(told)


def flipped(content: bytes, random: Random) -> bytes:
    """Some bytes changed, removed or repeated."""
    data = bytearray(content)
    for _ in range(random.choice((1, 1, 2, 8))):
        place = random.randrange(len(data)) if data else 0
        choice = random.random()
        if choice < 0.7 and data:
            data[place] = random.choice((0, 1, 127, 128, 255, random.randrange(256)))
        elif choice < 0.85:
            del data[place : place + random.choice((1, 4, 64))]
        else:
            data[place:place] = data[place : place + random.choice((1, 4, 64))]
    return bytes(data)


def graphs(model: Model) -> Iterator[onnx.GraphProto | onnx.FunctionProto]:
    """The main graph, all subgraphs and all functions."""
    waiting: list[onnx.GraphProto | onnx.FunctionProto] = [model.graph, *model.functions]
    while waiting:
        graph = waiting.pop()
        yield graph
        for node in graph.node:
            for attribute in node.attribute:
                waiting.extend([attribute.g] if attribute.HasField("g") else attribute.graphs)


def _nodes(model: Model) -> list[onnx.NodeProto]:
    return [node for graph in graphs(model) for node in graph.node]


def _tensors(model: Model) -> list[TensorProto]:
    stored = [t for graph in graphs(model) if isinstance(graph, onnx.GraphProto) for t in graph.initializer]
    return stored + [a.t for node in _nodes(model) for a in node.attribute if a.HasField("t")]


def _values(model: Model) -> list[onnx.ValueInfoProto]:
    found = (graph for graph in graphs(model) if isinstance(graph, onnx.GraphProto))
    return [value for graph in found for part in (graph.input, graph.output, graph.value_info) for value in part]


def _attributes(model: Model) -> list[onnx.AttributeProto]:
    return [attribute for node in _nodes(model) for attribute in node.attribute]


def _pick(items: list, random: Random) -> object:  # type: ignore[type-arg]
    return random.choice(items) if items else None


def _attribute_value(model: Model, random: Random) -> bool:
    attribute = _pick([a for a in _attributes(model) if not a.HasField("g")], random)
    if not isinstance(attribute, onnx.AttributeProto):
        return False
    if attribute.type == onnx.AttributeProto.INT:
        attribute.i = random.choice(INTS)
    elif attribute.type == onnx.AttributeProto.FLOAT:
        attribute.f = random.choice(FLOATS)
    elif attribute.type == onnx.AttributeProto.STRING:
        attribute.s = random.choice(TEXTS)
    else:
        values, made = (attribute.floats, FLOATS) if attribute.floats else (attribute.ints, INTS)
        choice = random.random()
        if choice < 0.6 and values:
            values[random.randrange(len(values))] = random.choice(made)
        elif choice < 0.75 and values:
            del values[random.randrange(len(values))]
        elif choice < 0.9:
            values.append(random.choice(made))
        else:
            del values[:]
    return True


def _attribute_kind(model: Model, random: Random) -> bool:
    attribute = _pick(_attributes(model), random)
    if not isinstance(attribute, onnx.AttributeProto):
        return False
    value = random.choice((1, 0.5, "text", [1, 2], [0.5], ["a"], helper.make_tensor("t", TensorProto.FLOAT, [1], [1])))
    attribute.CopyFrom(helper.make_attribute(attribute.name, value))
    return True


def _attribute_set(model: Model, random: Random) -> bool:
    """Add, remove, repeat or rename an attribute."""
    node = _pick(_nodes(model), random)
    if not isinstance(node, onnx.NodeProto):
        return False
    choice = random.random()
    if choice < 0.6 and onnx.defs.has(node.op_type, node.domain):
        schema = onnx.defs.get_schema(node.op_type, node.domain)
        name = _pick(sorted(schema.attributes), random)
        if isinstance(name, str):
            kept = [attribute for attribute in node.attribute if attribute.name != name]
            del node.attribute[:]
            node.attribute.extend(kept)
            kinds = onnx.defs.OpSchema.AttrType
            made = {
                kinds.INT: random.choice(INTS),
                kinds.FLOAT: random.choice(FLOATS),
                kinds.STRING: random.choice(TEXTS),
                kinds.INTS: [random.choice(INTS) for _ in range(random.randrange(1, 5))],
                kinds.FLOATS: [random.choice(FLOATS) for _ in range(random.randrange(1, 5))],
            }.get(schema.attributes[name].type)
            if made is not None:
                node.attribute.append(helper.make_attribute(name, made))
                return True
    if not node.attribute:
        node.attribute.append(helper.make_attribute("unknown", 1))
    elif choice < 0.8:
        del node.attribute[random.randrange(len(node.attribute))]
    elif choice < 0.9:
        node.attribute.append(random.choice(list(node.attribute)))
    else:
        random.choice(list(node.attribute)).name = random.choice(NAMES)
    return True


def _tensor_dims(model: Model, random: Random) -> bool:
    tensor = _pick(_tensors(model), random)
    if not isinstance(tensor, TensorProto):
        return False
    choice = random.random()
    if choice < 0.5 and tensor.dims:
        tensor.dims[random.randrange(len(tensor.dims))] = random.choice(INTS)
    elif choice < 0.7 and tensor.dims:
        del tensor.dims[random.randrange(len(tensor.dims))]
    elif choice < 0.9:
        tensor.dims.insert(random.randrange(len(tensor.dims) + 1), random.choice((1, 1, 1, 2, 0)))
    else:
        tensor.dims[:] = tensor.dims[::-1]
    return True


def _tensor_resized(model: Model, random: Random) -> bool:
    """Dimensions and data change together, so that the tensor itself is sound."""
    tensor = _pick([t for t in _tensors(model) if t.data_type in (1, 2, 3, 6, 7, 10)], random)
    if not isinstance(tensor, TensorProto):
        return False
    dims = [dim for dim in tensor.dims if random.random() > 0.1]
    if random.random() < 0.2:
        dims.insert(random.randrange(len(dims) + 1), random.choice((1, 2)))
    if dims:
        place = random.randrange(len(dims))
        dims[place] = max(0, dims[place] + random.choice((-1, -1, 1, 1, 5)))
    array = np.resize(onnx.numpy_helper.to_array(tensor), dims)
    tensor.CopyFrom(onnx.numpy_helper.from_array(array, tensor.name))
    return True


def _input_resized(model: Model, random: Random) -> bool:
    """A graph input gets another size, and no graph output states one."""
    values = [value for value in model.graph.input if value.type.tensor_type.shape.dim]
    if not values:
        return False
    shape = random.choice(values).type.tensor_type.shape
    dim = random.choice(list(shape.dim))
    dim.dim_value = max(0, dim.dim_value + random.choice((-1, -1, 1, 1, 5)))
    if random.random() < 0.2:
        shape.dim.remove(dim)
    for value in model.graph.output:
        value.type.tensor_type.ClearField("shape")
    return True


def _tensor_bytes(model: Model, random: Random) -> bool:
    tensor = _pick(_tensors(model), random)
    if not isinstance(tensor, TensorProto):
        return False
    if not tensor.raw_data:
        for values in (tensor.int64_data, tensor.int32_data):
            if values:
                small = [value for value in INTS if abs(value) < 1 << 31]
                values[random.randrange(len(values))] = random.choice(small)
                return True
        if tensor.float_data:
            tensor.float_data[random.randrange(len(tensor.float_data))] = random.choice(FLOATS)
        return bool(tensor.float_data)
    tensor.raw_data = flipped(tensor.raw_data, random)
    return True


def _tensor_values(model: Model, random: Random) -> bool:
    """One or all elements become an odd value of the tensor's type."""
    tensor = _pick([t for t in _tensors(model) if t.data_type in (1, 3, 6, 7)], random)
    if not isinstance(tensor, TensorProto):
        return False
    try:
        array = onnx.numpy_helper.to_array(tensor).copy()
    except (ValueError, TypeError):
        return False
    if not array.size:
        return False
    if tensor.data_type == TensorProto.FLOAT:
        value: float = random.choice(FLOATS)
    else:
        limits = onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type)
        bits = 8 * limits.itemsize - 1
        value = max(-(1 << bits), min((1 << bits) - 1, random.choice(INTS)))
    if random.random() < 0.5:
        array[...] = value
    else:
        array.reshape(-1)[random.randrange(array.size)] = value
    tensor.CopyFrom(onnx.numpy_helper.from_array(array, tensor.name))
    return True


def _tensor_type(model: Model, random: Random) -> bool:
    tensor = _pick(_tensors(model), random)
    if not isinstance(tensor, TensorProto):
        return False
    tensor.data_type = random.choice(TYPES)
    return True


def _value_type(model: Model, random: Random) -> bool:
    value = _pick([v for v in _values(model) if v.type.HasField("tensor_type")], random)
    if not isinstance(value, onnx.ValueInfoProto):
        return False
    kind, choice = value.type.tensor_type, random.random()
    if choice < 0.3:
        kind.elem_type = random.choice(TYPES)
    elif choice < 0.4:
        kind.ClearField("shape")
    elif choice < 0.5:
        kind.shape.dim.add().dim_value = random.choice((1, 2, 0))
    elif kind.shape.dim:
        dim = random.choice(list(kind.shape.dim))
        if choice < 0.6:
            dim.dim_param = random.choice(NAMES)
        elif choice < 0.9:
            dim.dim_value = random.choice(INTS)
        else:
            kind.shape.dim.remove(dim)
    return True


def _wiring(model: Model, random: Random) -> bool:
    """Read another tensor, fewer or more of them, or write another one: cycles and repeated names too."""
    nodes = _nodes(model)
    node = _pick(nodes, random)
    if not isinstance(node, onnx.NodeProto):
        return False
    known = [name for other in nodes for name in (*other.input, *other.output)] + ["x", "", "nowhere"]
    names = node.input if random.random() < 0.75 else node.output
    choice = random.random()
    if choice < 0.6 and names:
        names[random.randrange(len(names))] = random.choice(known)
    elif choice < 0.75 and names:
        del names[-1]
    elif choice < 0.9:
        names.append(random.choice(known))
    else:
        names[:] = names[::-1]
    return True


def _node_set(model: Model, random: Random) -> bool:
    """Repeat, remove, move or exchange nodes."""
    graph = random.choice(list(graphs(model)))
    if not graph.node:
        return False
    place, choice = random.randrange(len(graph.node)), random.random()
    if choice < 0.2:
        graph.node.append(graph.node[place])
    elif choice < 0.4:
        del graph.node[place]
    elif choice < 0.5:
        graph.node[place].domain = random.choice(("", "ai.onnx", "own", "com.microsoft", "\u00e9"))
    elif choice < 0.9:
        version = max((entry.version for entry in model.opset_import if entry.domain == ""), default=17)
        known = sorted({s.name for s in onnx.defs.get_all_schemas() if not s.domain and s.since_version <= version})
        graph.node[place].op_type = random.choice([*known, *(node.op_type for node in graph.node)])
    else:
        nodes = list(graph.node)
        random.shuffle(nodes)
        del graph.node[:]
        graph.node.extend(nodes)
    return True


def _names(model: Model, random: Random) -> bool:
    """Give a tensor another name everywhere, or only a node, value or initialiser one."""
    name = random.choice(NAMES)
    choice = random.random()
    if choice < 0.3:
        node = _pick(_nodes(model), random)
        if isinstance(node, onnx.NodeProto):
            node.name = name
        return True
    if choice < 0.5:
        named = _pick([*_values(model), *_tensors(model)], random)
        if isinstance(named, (onnx.ValueInfoProto, TensorProto)):
            named.name = name
        return True
    every = sorted({n for node in _nodes(model) for n in (*node.input, *node.output) if n})
    renamed = {old: random.choice(NAMES) for old in random.sample(every, min(len(every), random.choice((1, 2, 2))))}
    for node in _nodes(model):
        for names in (node.input, node.output):
            names[:] = [renamed.get(old, old) for old in names]
    for value in (*_values(model), *_tensors(model)):
        value.name = renamed.get(value.name, value.name)
    return True


def _ends(model: Model, random: Random) -> bool:
    """Repeat or remove an input, output or initialiser of a graph, or return something else."""
    graph = random.choice([graph for graph in graphs(model) if isinstance(graph, onnx.GraphProto)])
    values = random.choice((graph.input, graph.output))
    choice = random.random()
    if choice < 0.2 and graph.initializer:
        graph.initializer.append(random.choice(list(graph.initializer)))
    elif choice < 0.3 and graph.initializer:
        del graph.initializer[random.randrange(len(graph.initializer))]
    elif choice < 0.5 and values:
        values.append(random.choice(list(values)))
    elif choice < 0.7 and values:
        del values[random.randrange(len(values))]
    elif graph.output:
        every = [name for node in graph.node for name in (*node.input, *node.output)] or [""]
        random.choice(list(graph.output)).name = random.choice(every)
    return True


def _functions(model: Model, random: Random) -> bool:
    """Move a node into a local function, or change one: its ends, its imports, a call of itself."""
    if not model.functions:
        node = random.choice(list(model.graph.node)) if model.graph.node else None
        if node is None:
            return False
        inputs, outputs = [f"i{i}" for i in range(len(node.input))], [f"o{i}" for i in range(len(node.output))]
        inner = onnx.NodeProto()
        inner.CopyFrom(node)
        inner.input[:], inner.output[:] = inputs, outputs
        model.functions.append(helper.make_function("own", "F", inputs, outputs, [inner], list(model.opset_import)))
        node.op_type, node.domain = "F", "own"
        del node.attribute[:]
        model.opset_import.append(helper.make_opsetid("own", 1))
        return True
    function, choice = random.choice(list(model.functions)), random.random()
    if choice < 0.3:
        model.functions.append(function)
    elif choice < 0.5:
        function.node.append(
            helper.make_node(function.name, list(function.input), list(function.output), domain=function.domain)
        )
    elif choice < 0.7:
        ends = random.choice((function.input, function.output))
        ends.append(random.choice(NAMES))
    elif choice < 0.85:
        del function.opset_import[:]
    elif function.node:
        value = random.choice(list(function.node)).attribute.add()
        value.name, value.ref_attr_name, value.type = "alpha", random.choice(NAMES), random.choice((1, 2, 4))
    return True


def _subgraphs(model: Model, random: Random) -> bool:
    """Put a node into the branch of an If, or repeat or empty a subgraph."""
    held = [a for a in _attributes(model) if a.HasField("g")]
    if held and random.random() < 0.6:
        attribute, choice = random.choice(held), random.random()
        if choice < 0.3:
            attribute.g.CopyFrom(random.choice(held).g)
        elif choice < 0.5:
            attribute.g.Clear()
        else:
            (attribute.g.node if choice < 0.7 else attribute.g.output).pop()
        return True
    if not model.graph.node:
        return False
    node = random.choice(list(model.graph.node))
    inner = onnx.NodeProto()
    inner.CopyFrom(node)
    inner.output[:] = [f"in_{name}" for name in node.output]
    ends = [onnx.ValueInfoProto(name=name) for name in inner.output]
    branch = helper.make_graph([inner], "branch", [], ends)
    model.graph.initializer.append(helper.make_tensor("condition", TensorProto.BOOL, [], [random.random() < 0.5]))
    node.CopyFrom(
        helper.make_node("If", ["condition"], list(node.output), node.name, then_branch=branch, else_branch=branch)
    )
    return True


def _external(model: Model, random: Random) -> bool:
    """Say that a tensor lies in another file."""
    tensor = _pick(_tensors(model), random)
    if not isinstance(tensor, TensorProto):
        return False
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    entries = {"location": random.choice(LOCATIONS)}
    for key in ("offset", "length"):
        if random.random() < 0.6:
            entries[key] = str(random.choice((*INTS, "", "x", "1e3")))
    for key, value in entries.items():
        entry = tensor.external_data.add()
        entry.key, entry.value = key, value
    return True


def _versions(model: Model, random: Random) -> bool:
    choice = random.random()
    if choice < 0.2:
        model.ir_version = random.choice(INTS)
    elif choice < 0.4:
        model.opset_import.append(
            helper.make_opsetid(random.choice(("", "ai.onnx", "own")), random.choice((1, 13, 21)))
        )
    elif model.opset_import:
        random.choice(list(model.opset_import)).version = random.choice((*range(1, 27), *INTS))
    return True


CHANGES: tuple[Callable[[Model, Random], bool], ...] = (
    *(_attribute_value, _attribute_value, _attribute_value, _attribute_kind, _attribute_set, _attribute_set),
    *(_tensor_resized, _tensor_resized, _input_resized, _input_resized),
    *(_tensor_dims, _tensor_bytes, _tensor_values, _tensor_values, _tensor_type, _value_type, _value_type),
    *(_wiring, _wiring, _node_set, _node_set, _names, _ends, _functions, _subgraphs, _external, _versions),
)
