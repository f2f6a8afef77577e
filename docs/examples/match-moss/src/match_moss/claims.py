"""What the engine runs as one operation; regions are made of these."""

from __future__ import annotations

from match_core import Region, RegionClaims
from match_core.patterns.rules_requant import per_tensor
from match_quant.powers.rules import shift_rules
from match_regions import region_pattern

from match_moss.hardware import DATA_BYTES, KERNELS, SHIFTS
from match_moss.layers import counts, holds, plan


def _worth(region: Region) -> str | None:
    need = plan(region).bytes
    return None if need <= DATA_BYTES else f"they need {need}"


_SHIFT, _BOUNDS, _SUMS = shift_rules(SHIFTS)
CLAIMS = RegionClaims(
    atoms=KERNELS.claims((_SHIFT, _BOUNDS, _SUMS), (_SHIFT, per_tensor(), _BOUNDS)),
    worth=_worth,
    worth_rule=f"activations of a region fit the {DATA_BYTES} bytes of the engine",
    counts=counts,
    holds=holds,
    parts_max=400,
)
PATTERN = region_pattern("moss_region", "layers that the engine computes one after another", CLAIMS)
