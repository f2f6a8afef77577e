"""``dataclass`` of the standard library, whose methods are compiled at their first call: compiling those of all classes
that a small compilation imports, used or not, took a sixth of its time."""

from __future__ import annotations

from dataclasses import MISSING, FrozenInstanceError, field, fields, replace
from dataclasses import dataclass as standard
from functools import partial
from typing import TYPE_CHECKING, Any

__all__ = ["dataclass", "field", "fields", "replace"]
#: Method -> the options by which the standard decorator compiles it and few others.
_OPTIONS = {
    "__init__": {"frozen": True, "repr": False, "eq": False},
    "__repr__": {"init": False, "eq": False},
    "__eq__": {"init": False, "repr": False},
    "__hash__": {"init": False, "repr": False, "unsafe_hash": True},
}

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(cls=None, /, **options):
        """The standard decorator. Frozen classes without bases or such methods of their own are compiled late."""
        if cls is None:
            return partial(dataclass, **options)
        own = vars(cls).keys() & {*_OPTIONS, "__setattr__", "__delattr__", "__getstate__", "__setstate__"}
        if own or cls.__bases__ != (object,) or not options.get("frozen") or options.keys() - {"frozen", "slots"}:
            return standard(cls, **options)
        body = {name: value for name, value in vars(cls).items() if name not in ("__dict__", "__weakref__")}
        made = standard(cls, init=False, repr=False, eq=False, slots=options.get("slots", False))
        for name in ("init", "repr", "eq", "frozen"):
            setattr(made.__dataclass_params__, name, True)
        for name in _OPTIONS:
            setattr(made, name, _Late(made, name, body))
        made.__setattr__, made.__delattr__ = _refusals(made)
        if options.get("slots"):
            made.__getstate__, made.__setstate__ = _values, _set_values
        return made


class _Late:
    """Takes the place of a method, until the standard decorator has compiled it for the same ``body``."""

    def __init__(self, made: type, name: str, body: dict[str, Any]) -> None:
        self._made, self._name, self._body = made, name, body

    def __get__(self, instance: object, owner: type) -> Any:
        method = _init(self._made) if self._name == "__init__" else None
        if method is None:
            compiled: Any = standard(type(self._made.__name__, (), dict(self._body)), **_OPTIONS[self._name])
            method = vars(compiled)[self._name]
        setattr(self._made, self._name, method)
        return method.__get__(instance, owner)


def _init(made: Any) -> Any:
    """``__init__`` of a class whose fields are all plain arguments. The standard decorator would compile three methods
    to make it; None where it has to."""
    every = fields(made)
    if len(every) < len(made.__dataclass_fields__) or any(each.default_factory is not MISSING for each in every):
        return None
    if any(not each.init or each.kw_only or each.name in ("self", "_set") for each in every):
        return None
    scope: dict[str, Any] = {"__name__": made.__module__, "_set": object.__setattr__}
    head, body = [], []
    for number, each in enumerate(every):
        scope |= {f"_type{number}": each.type, f"_default{number}": each.default}
        head.append(f", {each.name}: _type{number}{'' if each.default is MISSING else f' = _default{number}'}")
        body.append(f"    _set(self, {each.name!r}, {each.name})\n")
    more = "    self.__post_init__()\n" if hasattr(made, "__post_init__") else "" if body else "    pass\n"
    text = f"def __init__(self{''.join(head)}) -> None:\n{''.join(body)}{more}"
    exec(compile(text, "<string>", "exec", dont_inherit=True), scope)
    scope["__init__"].__qualname__ = f"{made.__qualname__}.__init__"
    return scope["__init__"]


def _refusals(made: Any) -> tuple[Any, Any]:
    """``__setattr__`` and ``__delattr__``; subclasses may have attributes of their own."""

    def refuse_set(self: object, name: str, value: object) -> None:
        if type(self) is made or name in made.__dataclass_fields__:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        super(made, self).__setattr__(name, value)

    def refuse_delete(self: object, name: str) -> None:
        if type(self) is made or name in made.__dataclass_fields__:
            raise FrozenInstanceError(f"cannot delete field {name!r}")
        super(made, self).__delattr__(name)

    return refuse_set, refuse_delete


def _values(self: Any) -> list[Any]:
    """The state of an object with slots, for copies and other processes."""
    return [getattr(self, each.name) for each in fields(self)]


def _set_values(self: Any, state: list[Any]) -> None:
    for each, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, each.name, value)
