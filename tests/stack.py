"""Stack of a C function from what gcc writes beside its objects with ``-fcallgraph-info=su``: the deepest path through
the static call graph, with every function's own frame (what ``-fstack-usage`` says) on it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

_NODE = re.compile(r'^node: \{ title: "(?P<title>[^"]+)" label: "(?P<label>[^"]*)"', re.MULTILINE)
_EDGE = re.compile(r'^edge: \{ sourcename: "(?P<caller>[^"]+)" targetname: "(?P<callee>[^"]+)"', re.MULTILINE)
_FRAME = re.compile(r"\\n(?P<size_bytes>\d+) bytes \((?P<kind>[a-z,]+)\)")
#: What gcc calls the target of a call through a pointer.
_INDIRECT = "__indirect_call"


@dataclass(frozen=True, slots=True)
class StackDepth:
    """``size_bytes``: of the frames on ``path``, which begins at the entry; ``outside``: functions that are called but
    whose frames are not known, such as those of the C library. They come on top."""

    size_bytes: int
    path: tuple[str, ...]
    outside: tuple[str, ...]


def stack_depth(
    graphs: Iterable[str], entry: str, pointed: Mapping[str, Iterable[str]] = MappingProxyType({})
) -> StackDepth:
    """The deepest stack below a call of ``entry``. ``graphs``: texts of the ``.ci`` files of all objects; ``pointed``:
    functions that a function's calls through pointers may lead to.

    ValueError where the graph does not bound the stack: ``entry`` is not there, a function calls itself (through others
    or not), calls through a pointer that ``pointed`` does not have, or has a frame whose size is not constant.
    """
    frames: dict[str, int] = {}
    calls: dict[str, set[str]] = {}
    for graph in graphs:
        for node in _NODE.finditer(graph):
            frame = _FRAME.search(node["label"])
            if frame is None:
                continue
            if frame["kind"] == "dynamic":
                raise ValueError(f"the frame of {_name(node['title'])} has no constant size")
            frames[node["title"]] = int(frame["size_bytes"])
        for edge in _EDGE.finditer(graph):
            calls.setdefault(edge["caller"], set()).add(edge["callee"])
    for caller, callees in pointed.items():
        calls.get(caller, set()).discard(_INDIRECT)
        calls.setdefault(caller, set()).update(callees)
    if entry not in frames:
        raise ValueError(f"no function {entry} in the call graph")
    deepest: dict[str, tuple[int, tuple[str, ...]]] = {}
    _visit(entry, frames, calls, deepest, ())
    size_bytes, path = deepest[entry]
    outside = {name for title in deepest for name in calls.get(title, ()) if name not in frames}
    return StackDepth(size_bytes, tuple(_name(title) for title in path), tuple(sorted(outside)))


def _visit(
    title: str,
    frames: Mapping[str, int],
    calls: Mapping[str, set[str]],
    deepest: dict[str, tuple[int, tuple[str, ...]]],
    above: tuple[str, ...],
) -> None:
    """Fill in ``deepest`` for a function and all that it calls."""
    if title in above:
        raise ValueError(f"{_name(title)} calls itself: {' -> '.join(map(_name, (*above, title)))}")
    if title in deepest:
        return
    below: tuple[int, tuple[str, ...]] = (0, ())
    for callee in sorted(calls.get(title, ())):
        if callee == _INDIRECT:
            raise ValueError(f"{_name(title)} calls through a pointer")
        if callee in frames:
            _visit(callee, frames, calls, deepest, (*above, title))
            below = max(below, deepest[callee], key=lambda found: found[0])
    deepest[title] = (frames[title] + below[0], (title, *below[1]))


def _name(title: str) -> str:
    """The function's name; those of static functions have their file before it."""
    return title.rsplit(":", 1)[-1]
