"""How large the tiles of a product are, and how they are written."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from match_core.host.kernels.blocked import Tile
from match_core.host.machine import Machine


@dataclass(frozen=True, slots=True)
class Product:
    """A product to be cut into tiles: how many positions lie side by side, outputs, and bytes of a sum; ``run``:
    neighbouring bytes along which whole numbers are added, 0 where sums are of another kind."""

    positions: int
    outputs: int
    sum_bytes: int
    run: int


@lru_cache(maxsize=4096)
def tile_for(product: Product, machine: Machine) -> Tile:
    lanes = machine.lanes(product.sum_bytes)
    if not machine.vector_bytes or (product.run >= 16):
        import os

        if os.environ.get("DK"):
            p, k = map(int, os.environ["DK"].split(","))
            return Tile(min(p, product.positions), min(k, product.outputs), rows=False)
        best = min(
            (
                (p, k)
                for p in range(1, min(6, product.positions) + 1)
                for k in range(1, min(16, product.outputs) + 1)
                if p * k + p + k <= machine.registers
            ),
            key=lambda pk: (cost(product, pk, 1), -pk[1]),
        )
        return Tile(*best, rows=False)
    options = [
        (p, k)
        for p in range(1, min(16, product.positions) + 1)
        for k in {*range(lanes, min(product.outputs, 128) + 1, lanes), min(product.outputs, 128)}
        if p * -(-k // lanes) <= machine.registers - 4
    ]
    import os

    if os.environ.get("PK"):
        p, k = map(int, os.environ["PK"].split(","))
        return Tile(min(p, product.positions), min(k, product.outputs), rows=True)
    best = min(options, key=lambda pk: cost(product, pk, lanes))
    return Tile(*best, rows=True)


def cost(product: Product, pk, lanes):
    p, k = pk
    tiles = -(-product.positions // p) * -(-product.outputs // k)
    v = -(-k // lanes)
    step = max(p * v / 2, 4, (v + p) / 2) + 1
    if lanes > 1 and k <= 16 and p * k < 64:
        step = p * k * 2
    return tiles * step
