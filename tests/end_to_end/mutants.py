"""``make test-mutants``: every wait and every need of real programs is taken out, one at a time; a table says which way
of running noticed it. Exit code 1 if one was not noticed. ``python -m tests.end_to_end.mutants [MODEL ...]`` takes some
of the models."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from match_core.plugin.facade import Plugins

from tests.conftest import SHARED_MODELS
from tests.end_to_end.side_by_side import compiled
from tests.twin.mutation import bench, run_mutants, summary


@dataclass(frozen=True, slots=True)
class Case:
    """A model of ../shared/models; ``memory`` is shrunk so far that the program has swaps, or not."""

    model: str
    memory: tuple[tuple[str, int], ...] = ()
    target: str = "carfield"

    @property
    def swaps(self) -> bool:
        """Whether the program must swap."""
        return bool(self.memory)

    def __str__(self) -> str:
        return " ".join([self.model, *(f"{name}={size}" for name, size in self.memory)])


CASES = (
    Case("matcha_autoencoder_f16"),
    Case("matcha_transformer_block_f16"),
    Case("matcha_transformer_block_f16", (("l2", 430080),)),
    Case("matcha_resnet8_f16"),
    Case("matcha_dscnn_f16"),
    Case("ita_mobilebert_l1_int8_qdq", target="ita"),
)


def main(arguments: Sequence[str]) -> int:
    """Print a line for each program; 1 if a mutant was not caught."""
    plugins, failed = Plugins.load(), False
    print("| program | mutants by kind | caught first by | not caught | seconds |\n|---|---|---|---|---|")
    for case in CASES:
        model = SHARED_MODELS / case.model / "model.onnx"
        if (arguments and case.model not in arguments) or not model.is_file():
            continue
        start = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            one = compiled(model, Path(folder), plugins, case.target, case.memory)
            made = bench(one.program, Path(folder) / "work", one.document, one.apis, one.host, one.inputs)
            kinds, modes, missed = summary(run_mutants(made, one.apis))
        failed |= missed != "0"
        print(f"| {case} | {kinds} | {modes} | {missed} | {time.monotonic() - start:.0f} |", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
