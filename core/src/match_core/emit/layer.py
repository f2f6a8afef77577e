"""C of one layer on a unit with a memory of its own: a software pipeline of loads, kernel calls and stores."""

from __future__ import annotations

from match_core.emit.layer_context import ContextWriter
from match_core.emit.layer_copies import CopyWriter
from match_core.emit.layer_facts import Function, Layer
from match_core.lower.text import Block, comment


class LayerWriter:
    """Writes the C of one layer: ``void name(void *argument)``, preceded by its own types and functions."""

    def __init__(self, layer: Layer) -> None:
        self.layer = layer
        self.contexts = ContextWriter(self.layer)
        self.copies = CopyWriter(self.layer)
        self.ahead = [moved for moved in self.layer.loads if moved.double]
        self.in_place = [moved for moved in self.layer.loads if moved.near.depth > 0 and not moved.double]
        self.stages = (self.copies.stages(self.ahead), self.copies.stages(self.in_place))
        self.store_depth = self.layer.output.near.depth
        self.behind = self.layer.output.double

    def write(self, heading: str = "") -> str:
        """The text; ``heading`` is a comment for the line above the function itself."""
        body = Block()
        if self.layer.depth == 0:
            self._single_step(body)
            parts = []
        else:
            functions = self._functions()
            calls = {function.name.removeprefix(f"{self.layer.name}_"): function for function in functions}
            # Loads ahead and delayed stores use the record of a step while the next one is prepared.
            if self.ahead or self.behind or 0 < self.store_depth < self.layer.depth:
                self._pipeline(body, calls)
            else:
                self._loop(body, calls)
            parts = [self._step_type(), *(function.text for function in functions)]
        task = "    const match_task_t *const task = argument;\n"
        entry = f"{heading}\nvoid {self.layer.name}(void *argument)\n{{\n{task}{self.layer.body(body)}\n}}\n"
        return "\n".join([*parts, entry.lstrip("\n")])

    def _functions(self) -> tuple[Function, ...]:
        """All functions except the layer's own, in order of definition."""
        found: list[Function] = [self.contexts.next()]
        ahead, in_place = self.stages
        found += [*ahead.values(), *in_place.values()]
        if self.ahead:
            found.append(self.copies.loads("load_ahead", "Loads the tiles of the next step.", self.ahead, ahead, 0))
        if self.in_place:
            waited = max(ahead, default=0)
            found.append(self.copies.loads("load", "Loads the tiles of a step.", self.in_place, in_place, waited))
        if self.store_depth:
            found.append(self.copies.store_function())
        return tuple(found)

    def _step_type(self) -> str:
        lines = [*self.contexts.fields(), f"{self.layer.context} tile;"]
        body = "\n".join(f"    {line}" for line in lines)
        words = f"A step of {self.layer.name}: one kernel call."
        return f"{comment(words)}\ntypedef struct {{\n{body}\n}} {self.layer.step};\n"

    def _single_step(self, block: Block) -> None:
        with block.braces(f"const {self.layer.context} tile ="):
            self.contexts.initial(block)
        block.lines[-1] += ";"
        self.copies.first_loads(block)
        self._copy_wait(block)
        self._run(block, "&tile")
        self._store_once(block)

    def _loop(self, block: Block, calls: dict[str, Function]) -> None:
        """Single buffers: load, run and store, one after another."""
        steps = self.layer.schedule.steps
        self._first_step(block, f"{self.layer.step} step =")
        self._first_loads(block, "&step")
        with block.braces(f"for (uint32_t n = 0u; n < {steps}u; n++)"):
            self._copy_wait(block)
            self._run(block, "&step.tile")
            if self.store_depth:
                block.line(calls["store"].call("&step"))
            with block.braces(f"if (n + 1u < {steps}u)"):
                block.line(calls["next"].call("&step"))
                if self.in_place:
                    block.line(calls["load"].call("&step"))
        self._store_once(block)

    def _pipeline(self, block: Block, calls: dict[str, Function]) -> None:
        """With two buffers, the loads for the next step and the store of the previous one overlap with a kernel."""
        steps = self.layer.schedule.steps
        # An initialiser of the array would clear all of it: compilers call memset for that, once per layer.
        block.line(f"{self.layer.step} steps[{3 if self.behind else 2}];")
        self._first_step(block, f"steps[0] = ({self.layer.step})")
        block.line(f"{self.layer.step} *now = &steps[0];")
        block.line(f"{self.layer.step} *next = &steps[1];")
        if self.behind:
            block.line(f"{self.layer.step} *before = &steps[2];")
        self._first_loads(block, "now")
        with block.braces(f"for (uint32_t n = 0u; n < {steps}u; n++)"):
            self._copy_wait(block)
            if self.layer.kernel.wait:
                block.line(f"{self.layer.kernel.launch}(&now->tile);")
            self._beside(block, calls)
            if self.layer.kernel.wait:
                block.line(f"{self.layer.kernel.wait}();")
            else:
                block.line(f"{self.layer.kernel.launch}(&now->tile);")
            self._after(block, calls)
        if self.behind:
            block.line(calls["store"].call("before"))
        self._store_once(block)

    def _beside(self, block: Block, calls: dict[str, Function]) -> None:
        """Statements executed while a kernel runs: prepare the next step, issue its loads and the last step's store."""
        with block.braces(f"if (n + 1u < {self.layer.schedule.steps}u)"):
            block.line("*next = *now;")
            block.line(calls["next"].call("next"))
            if self.ahead:
                block.line(calls["load_ahead"].call("next"))
        if self.behind:
            changed = self._changed("now")
            with block.braces(f"if ((n > 0u) && {changed})" if changed else "if (n > 0u)"):
                block.line(calls["store"].call("before"))

    def _after(self, block: Block, calls: dict[str, Function]) -> None:
        """Statements after the end of the kernel: the store from a single buffer, then loads into single buffers."""
        steps = self.layer.schedule.steps
        if self.store_depth and not self.behind:
            changed = self._changed("next")
            with block.braces(f"if ((n + 1u == {steps}u) || {changed})" if changed else ""):
                block.line(calls["store"].call("now"))
        if self.behind:
            block.line(f"{self.layer.step} *const free = before;")
            block.extend(["before = now;", "now = next;", "next = free;"])
        else:
            block.line(f"{self.layer.step} *const done = now;")
            block.extend(["now = next;", "next = done;"])
        if self.in_place:
            with block.braces(f"if (n + 1u < {steps}u)"):
                block.line(calls["load"].call("now"))

    def _changed(self, step: str) -> str:
        """The condition that the output's buffer changes at a step; empty if it always does."""
        return "" if self.store_depth == self.layer.depth else f"({step}->changed < {self.store_depth}u)"

    def _first_step(self, block: Block, head: str) -> None:
        """The record of the first step as an initialiser or a compound literal."""
        with block.braces(head):
            for line in self.contexts.initial_spans():
                block.line(line)
            with block.braces(".tile ="):
                self.contexts.initial(block)
            block.lines[-1] += ","
        block.lines[-1] += ";"

    def _first_loads(self, block: Block, step: str) -> None:
        """The loads of the first step, and the start of the second staging copies."""
        self.copies.first_loads(block)
        for stages in self.stages:
            block.extend([stage.call(step) for stage in stages.values()])

    def _store_once(self, block: Block) -> None:
        """The stores that happen once per layer, and the wait for the last copies."""
        if self.store_depth == 0:
            self.copies.store(block, self.copies.first)
        self._copy_wait(block)

    def _run(self, block: Block, context: str) -> None:
        block.line(f"{self.layer.kernel.launch}({context});")
        if self.layer.kernel.wait:
            block.line(f"{self.layer.kernel.wait}();")

    def _copy_wait(self, block: Block) -> None:
        if self.layer.request.memory.wait:
            block.line(f"{self.layer.request.memory.wait}();")
