"""Prints the cycles of the loops of the compute cores' kernels: ``python -m match_ita.counts``.

Needs riscv64-unknown-elf-gcc, gcc and qemu-riscv32.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from match_ita import snitch_products, snitch_rows
from match_ita.counts.products import build_products, product_figures
from match_ita.counts.rows import build_rows, row_figures


def main() -> None:
    """Builds, counts, prints: each figure as counted and as the table has it."""
    table = {constant.name: constant.value for constant in (*snitch_rows.CONSTANTS, *snitch_products.CONSTANTS)}
    with tempfile.TemporaryDirectory() as folder:
        for name, cycles in row_figures(build_rows(Path(folder))):
            sys.stdout.write(f"{name:24} {cycles:9.2f} {table[f'rows_{name}_cycles']:6}\n")
    with tempfile.TemporaryDirectory() as folder:
        for name, cycles in product_figures(build_products(Path(folder))):
            sys.stdout.write(f"{name:24} {cycles:9.2f} {table[f'{name}_cycles']:6}\n")


if __name__ == "__main__":
    main()
