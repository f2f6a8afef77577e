"""Copies of one layer: loads of a step, the store of a step, staging of streamed constants."""

from __future__ import annotations

from itertools import groupby

from match_core.emit.copies import copy_of, write_copy, write_rows
from match_core.emit.layer_context import carry
from match_core.emit.layer_facts import Function, Layer, Moved
from match_core.emit.tile_text import FirstTile, TileText
from match_core.lower.text import Block


class CopyWriter:
    """Writes the copies of one layer."""

    def __init__(self, layer: Layer) -> None:
        self.layer = layer
        self.text = TileText(layer.workload, layer.schedule, "step->", "tile->")
        self.first = FirstTile(layer.workload, layer.schedule)
        self.staged = tuple(moved for moved in layer.moved if moved.stage is not None)

    def first_loads(self, block: Block) -> None:
        """The loads of the first step in the order of the operands, after the staging copies that they depend on."""
        for moved in self.staged:
            self._stage_copy(block, moved, self.first)
        if self.staged:
            self._store_wait(block, "")
        for moved in self.layer.loads:
            self.load(block, moved, self.first)

    def load(self, block: Block, moved: Moved, text: TileText) -> None:
        """The copies that fill an operand's buffer."""
        near = self.layer.near_address(moved, text.record)
        if moved.stage is None:
            far, outer = self.layer.home_address(moved), None
        else:
            far, outer = self.layer.stage_address(moved.stage, text.record), moved.stage.depth
        copy = copy_of(text, moved.operand, outer, moved.near.depth)
        write_copy(block, self.layer.request.memory, "in", near, far, copy)

    def store(self, block: Block, text: TileText) -> None:
        """The copies of the output's buffer to the home memory."""
        output = self.layer.output
        near, far = self.layer.near_address(output, text.record), self.layer.home_address(output)
        copy = copy_of(text, output.operand, None, output.near.depth)
        write_copy(block, self.layer.request.memory, "out", near, far, copy)

    def stages(self, group: list[Moved]) -> dict[int, Function]:
        """By depth: the function that starts the staging copies that follow those of a step."""
        depths = sorted({moved.stage.depth for moved in group if moved.stage is not None and moved.stage.depth > 0})
        return {
            depth: self._stage(depth, [m for m in group if m.stage is not None and m.stage.depth == depth])
            for depth in depths
        }

    def loads(
        self, suffix: str, words: str, group: list[Moved], stages: dict[int, Function], waited_depth: int
    ) -> Function:
        """The function with the loads of a step for some operands. ``waited_depth``: an earlier load for the same step
        has already waited for staging copies up to this depth."""
        block, depths = Block(), list(stages)
        if depths and depths[-1] > waited_depth:
            self._store_wait(block, self.layer.changed(depths[-1]))
        for depth, members in groupby(group, key=lambda moved: moved.near.depth):
            condition = self.layer.changed(depth)
            with block.braces(f"if ({condition})" if condition else ""):
                for moved in members:
                    self.load(block, moved, self.text)
        for depth, stage in stages.items():
            condition = self.layer.changed(depth)
            with block.braces(f"if ({condition})" if condition else ""):
                block.line(stage.call("step"))
        return self.layer.function(suffix, words, block)

    def store_function(self) -> Function:
        """The function that stores the result of a step."""
        block = Block()
        self.store(block, self.text)
        return self.layer.function("store", "Copies the result of a step to home memory.", block)

    def _store_wait(self, block: Block, condition: str) -> None:
        assert self.layer.request.store is not None
        with block.braces(f"if ({condition})" if condition else ""):
            block.line(f"{self.layer.request.store.wait}();")

    def _stage(self, depth: int, group: list[Moved]) -> Function:
        text = TileText(self.layer.workload, self.layer.schedule, "ahead.")
        block = Block()
        block.line(f"{self.layer.step} ahead = *step;")
        carry(block, text, self.layer, depth, changed=False, end="return;")
        for moved in group:
            self._stage_copy(block, moved, text)
        names = ", ".join(moved.operand.name for moved in group)
        words = f"Starts copies of the next part of {names} from the store while this step uses the current one."
        return self.layer.function(f"stage_{'_'.join(moved.operand.name for moved in group)}", words, block)

    def _stage_copy(self, block: Block, moved: Moved, text: TileText) -> None:
        assert self.layer.request.store is not None and moved.stage is not None
        copy = copy_of(text, moved.operand, None, moved.stage.depth)
        near, far = self.layer.stage_address(moved.stage, text.record), self.layer.store_address(moved)
        write_rows(block, self.layer.request.store.copy_1d, near, far, copy)
