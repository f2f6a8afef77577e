"""Prints the cycles of the loops of the compute cores' kernels, and how long they use the unit that multiplies and
divides for all cores: ``python -m benchmarks.ita_counts``.

Needs riscv64-unknown-elf-gcc, gcc and qemu-riscv32.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from match_ita.snitch_products import constants as products
from match_ita.snitch_rows import constants as rows

from benchmarks.ita_counts.products import build_products, product_figures
from benchmarks.ita_counts.rows import build_rows, row_figures


def main() -> None:
    """Builds, counts, prints: each figure as counted and as the table has it. The table has two uses for a
    multiplication of ``pairs``, which makes two products."""
    table = {constant.name: constant.value for constant in (*rows.CONSTANTS, *products.CONSTANTS)}
    for prefix, build, figures in (("rows_", build_rows, row_figures), ("", build_products, product_figures)):
        with tempfile.TemporaryDirectory() as folder:
            program = build(Path(folder))
            uses = dict(figures(program.on_the_unit))
            for name, cycles in figures(program):
                of_table = [table[f"{prefix}{name}_{kind}"] for kind in ("cycles", "uses")]
                sys.stdout.write(f"{name:24} {cycles:9.2f} {of_table[0]:6} {uses[name]:9.2f} {of_table[1]:6}\n")


if __name__ == "__main__":
    main()
