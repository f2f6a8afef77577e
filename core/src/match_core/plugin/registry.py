"""Registering and calling plugins. With the markers, the only module that touches pluggy.

This module settles what pluggy leaves open:

* calls have a fixed order, whatever the order of registration (pluggy calls the last registered first);
* plugins are called one at a time, so one that raises does not affect others;
* hooks are checked before registration: unknown names, missing markers and wrappers are refused (pluggy
  accepts a misspelt hook, ignores an unmarked one, and lets a wrapper change the answers of others);
* a registration that fails is undone (older pluggy leaves the plugin half registered);
* equal entry-point names are a fault of both (pluggy silently drops the second).
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from traceback import walk_tb
from types import ModuleType
from typing import TypeVar

import pluggy

from match_core.contract.errors import MatchError, UsageError, did_you_mean
from match_core.plugin.answers import WrongAnswerError
from match_core.plugin.discovery import Found, Selection
from match_core.plugin.markers import CONTRACT_VERSION, PROJECT
from match_core.plugin.records import HOOK_RAISED, STAGE_CODES, WRONG_ANSWER, GivenAnswer, PluginFault
from match_core.plugin.specs import decisions, inputs, limits, outputs

SPECS = (inputs, decisions, outputs, limits)
HOOKS = tuple(name for spec in SPECS for name in vars(spec) if name.startswith("match_"))

#: Hooks that answer for one model: their errors for the user pass unchanged.
ABOUT_MODELS = ("match_schedule", "match_map", "match_plan", "match_exact", "match_fit")
#: Exceptions of a plugin's code that are contained. Ctrl-C is not among them.
CONTAINED = (Exception, SystemExit)

_T = TypeVar("_T")


class _Manager(pluggy.PluginManager):
    """Looks at routines only; pluggy inspects every object of a module, which takes most of a registration."""

    def parse_hookimpl_opts(self, plugin: object, name: str) -> pluggy.HookimplOpts | None:
        other = isinstance(plugin, ModuleType) and not inspect.isroutine(vars(plugin).get(name))
        return None if other else super().parse_hookimpl_opts(plugin, name)

    def parse_hookspec_opts(self, module_or_class: ModuleType | type, name: str) -> pluggy.HookspecOpts | None:
        return super().parse_hookspec_opts(module_or_class, name) if name in HOOKS else None


class Registry:
    """The plugins in calling order, their faults and their answers."""

    def __init__(self, found: Sequence[Found], selection: Selection) -> None:
        self.found = tuple(found)
        self.registered: dict[str, Found] = {}
        self.hooks_of: dict[str, tuple[str, ...]] = {}
        self._faults: dict[tuple[str, str], PluginFault] = {}
        self._answers: dict[GivenAnswer, None] = {}
        self._manager = _Manager(PROJECT)
        for spec in SPECS:
            self._manager.add_hookspecs(spec)
        self.disabled = frozenset(plugin.key for plugin in self.found if not selection.wants(plugin))
        self._register([plugin for plugin in self.found if plugin.key not in self.disabled])

    @property
    def faults(self) -> tuple[PluginFault, ...]:
        """Once per plugin and stage, in the order they were found."""
        return tuple(self._faults.values())

    @property
    def answers(self) -> tuple[GivenAnswer, ...]:
        """Accepted answers without repeats, in the order of the first call."""
        return tuple(self._answers)

    def fault(self, plugin: Found, stage: str, cause: str, code: str = "") -> PluginFault:
        """Record a fault; only the first one of a plugin and stage is recorded."""
        fault = PluginFault(
            distribution=plugin.distribution,
            version=plugin.version,
            entry_point=plugin.name,
            stage=stage,
            cause=cause,
            how_to_disable=plugin.how_to_disable,
            code=code or STAGE_CODES[stage],
        )
        return self._faults.setdefault((plugin.key, stage), fault)

    def implementers(self, hook: str) -> tuple[tuple[Found, object], ...]:
        """The plugins that implement a hook and the objects that hold their hooks, in calling order."""
        return tuple((found, implementation.plugin) for found, implementation in self._implementations(hook))

    def is_faulty(self, plugin: Found) -> bool:
        """Whether any fault of this plugin was recorded."""
        return any(key == plugin.key for key, _ in self._faults)

    def ask(
        self, hook: str, argument: str, check: Callable[[object], _T], needed: frozenset[str], **arguments: object
    ) -> Iterator[tuple[Found, _T]]:
        """Call a hook plugin by plugin and yield the accepted answers as they arrive; stop iterating to stop calling.

        ``needed``: keys of the plugins whose fault is an error (PluginError) instead of a record.
        """
        for plugin, implementation in self._implementations(hook):
            try:
                raw = implementation.function(*(arguments[name] for name in implementation.argnames))
                if raw is None:
                    continue
                answer = check(raw)
            except CONTAINED as error:
                if isinstance(error, MatchError) and hook in ABOUT_MODELS:
                    raise
                if isinstance(error, UsageError) and plugin.key in needed:  # a setting of the target, no fault
                    raise
                code = WRONG_ANSWER if isinstance(error, WrongAnswerError) else HOOK_RAISED
                fault = self.fault(plugin, hook, one_line(error), code)
                if plugin.key in needed:
                    raise fault.as_error(f"{hook} for {argument or 'this package'} failed") from error
                continue
            self._answers[GivenAnswer(hook, argument, plugin.name)] = None
            yield plugin, answer

    def _implementations(self, hook: str) -> tuple[tuple[Found, pluggy.HookImpl], ...]:
        # pluggy lists them from last to first call, with tryfirst and trylast applied. They are called here and not by
        # pluggy, because there the first one that raises would end the whole call.
        return tuple(
            (self.registered[implementation.plugin_name], implementation)
            for implementation in reversed(getattr(self._manager.hook, hook).get_hookimpls())
        )

    def _register(self, plugins: Sequence[Found]) -> None:
        counts = Counter(plugin.name for plugin in plugins)
        loaded = []
        for plugin in plugins:
            if counts[plugin.name] > 1:
                same = [other.distribution for other in plugins if other.name == plugin.name]
                self.fault(plugin, "discovery", f"the entry point {plugin.name!r} exists in {' and in '.join(same)}")
                continue
            try:
                target = plugin.load()
            except CONTAINED as error:
                self.fault(plugin, "import", one_line(error))
                continue
            problem = self._problem(plugin, target)
            if problem is None:
                loaded.append((plugin, target))
            else:
                self.fault(plugin, *problem)
        for plugin, target in reversed(loaded):  # the last registered is called first
            try:
                self._manager.register(target, name=plugin.key)
            except CONTAINED as error:
                if self._manager.has_plugin(plugin.key):
                    self._manager.unregister(name=plugin.key)
                self.fault(plugin, "register", one_line(error))
                self.hooks_of.pop(plugin.key, None)
        for plugin, _ in loaded:
            if self._manager.has_plugin(plugin.key):
                self.registered[plugin.key] = plugin

    def _problem(self, plugin: Found, target: object) -> tuple[str, str] | None:
        """(stage, cause) of a fault that prevents registration; if there is none, records the plugin's hooks."""
        if target is None:
            return "import", "the entry point resolves to None"
        try:
            contract = _contract_problem(target)
            if contract is not None:
                return "contract", contract
            hooks, problem = self._hooks_in(target)
        except CONTAINED as error:
            return "hooks", one_line(error)
        if problem is None:
            self.hooks_of[plugin.key] = tuple(hook for hook in HOOKS if hook in hooks)
            return None
        return "hooks", problem

    def _hooks_in(self, target: object) -> tuple[frozenset[str], str | None]:
        found = set()
        for attribute in dir(target):
            options = self._manager.parse_hookimpl_opts(target, attribute)
            if options is None:
                if attribute in HOOKS and callable(inspect.getattr_static(target, attribute)):
                    return frozenset(), f"{attribute} is not marked with @hookimpl"
                continue
            hook = options.get("specname") or attribute
            if options.get("wrapper") or options.get("hookwrapper"):
                return frozenset(), f"{attribute} is a wrapper; hooks of this contract cannot be wrapped"
            if hook in HOOKS:
                found.add(hook)
            elif not options.get("optionalhook"):
                hint = "; " + (*did_you_mean(hook, HOOKS), f"the hooks are {', '.join(HOOKS)}")[0]
                return frozenset(), f"there is no hook {hook}{hint}"
        return frozenset(found), None


def _contract_problem(target: object) -> str | None:
    version = getattr(target, "match_contract", None)
    if version is None:
        return f"it states no contract version; expected match_contract = {CONTRACT_VERSION}"
    if not isinstance(version, int) or isinstance(version, bool):
        return f"match_contract is {version!r}, an integer expected; this core has contract {CONTRACT_VERSION}"
    if version != CONTRACT_VERSION:
        return f"it was written for contract {version}; this core has contract {CONTRACT_VERSION}"
    return None


def one_line(error: BaseException) -> str:
    """One line for the user, whatever text the exception holds."""
    try:
        said = str(error)
    except CONTAINED:  # the exception is a plugin's too
        said = "no reason given"
    text = "".join(character if character.isprintable() else " " for character in said)
    text = " ".join(text.split())
    if len(text) > 300:
        text = text[:297] + "..."
    if isinstance(error, WrongAnswerError):  # its text needs no type
        return text
    return (f"{type(error).__name__}: {text}" if text else type(error).__name__) + _place(error)


#: What calls plugins. Libraries may put importlib_metadata in the place of the standard library's module.
_AROUND = ("match_core", "importlib", "importlib_metadata", "pluggy")


def _place(error: BaseException) -> str:
    """File and line of the plugin that raised: its deepest frame, not that of a library that it called."""
    frames = [(str(frame.f_globals.get("__name__")), line) for frame, line in walk_tb(error.__traceback__)]
    own = [(name, line) for name, line in frames if name.split(".")[0] not in _AROUND]
    same = [
        f"{name.replace('.', '/')}.py:{line}" for name, line in own if name.split(".")[0] == own[0][0].split(".")[0]
    ]
    return f" ({same[-1]})" if same else ""
