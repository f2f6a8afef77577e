"""Instructions of a kernel: counts of its parts times instructions of each, fitted to counts on an emulator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from match_host.cost import HostCostModel

from match_cortexm.cores import CORE_NAMED
from match_cortexm.counts import counts_of
from match_cortexm.figures import GENERAL, estimate_of, figures_of, is_wider
from match_cortexm.forms import figures_keys
from match_cortexm.products import stored
from match_cortexm.rivals import RIVALLED
from match_cortexm.zeros import apart

if TYPE_CHECKING:
    from match_core.contract.workload import Workload
    from numpy.typing import NDArray

#: What kernels of the host (but products of computed matrices) cost beside own ones (``rivals.py``) if their form has
#: no figures, relative to those of other forms, and what requantisations in regions do, beside those of their own: an
#: estimate, above what any counted one takes, so that kernels with figures are preferred.
_UNKNOWN = 4.0

#: What products, maxima and softmax of the host cost beside own kernels, without DSP, relative to their figures: an
#: estimate. Compilers keep sums in registers or on the stack, divisions depend on the numbers: figures are the middle
#: of what differs twofold. The core's own kernels are counted to a few percent.
#: So do operators on a few numbers that have no figures: regions, which replace them, have.
_LUCK, _SINGLE = 2.0, ", few, "
#: The same of products of computed matrices on all cores, at least: an estimate. The same C takes 2.5 to 5.9
#: instructions a product on M4, with figures of 4.1 to 4.4: gcc 12.2 keeps the sums of 64 products by 48 columns in
#: registers and those of 24 by 64 on the stack. Floats have registers of their own: such tiles are within 6 %.
_COMPUTED, _COMPUTED_LUCK = "integer computed", 1.5
#: And of rows of so few results that their form has no figures: a loaded value serves few products.
_FEW_RESULTS = "integer one row of "


@dataclass(frozen=True, slots=True)
class FittedCost(HostCostModel):
    """``figures``: instructions of each count by key; ``call`` counts once. ``luck``: of the host's kernels that have
    rivals; ``soft``: whether floats are calls, which cost less if an operand is 0; ``shifts``: ``Core.shifts``;
    ``zeros``: the share of products and sums with one, None for what the layer tells (``zeros.py``)."""

    name: str = "cortexm"
    version: str = "2"
    figures: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    luck: float = 1.0
    soft: bool = False
    shifts: bool = False
    zeros: float | None = None
    core: str = ""

    def kernel_cycles(self, workload: Workload, tile: Mapping[str, NDArray[np.int64]]) -> NDArray[np.int64]:
        """Instructions of one call; the kernels work on whole layers."""
        shape = np.shape(tile[workload.dims[0].name])
        if workload.kind == "host_view":
            return np.zeros(shape, dtype=np.int64)
        rivals = RIVALLED in workload.parameters
        workload, zeros = self._apart(workload)
        keys = figures_keys(workload)
        key = self._key(keys)
        counts, values = counts_of(workload, zeros, self.shifts), self.figures[key]
        contested = rivals and _COMPUTED not in keys[0]
        if is_wider(keys, key) and (contested or ("wide" in counts and "region" in workload.kind)):
            values = {name: _UNKNOWN * value for name, value in values.items()}
        whole = values.get("call", 0.0) + sum(value * counts.get(name, 0) for name, value in values.items())
        return np.full(shape, int(np.ceil(whole * self._luck(workload, keys, rivals))), dtype=np.int64)

    def launch_cycles(self, workload: Workload, tile: Mapping[str, NDArray[np.int64]]) -> NDArray[np.int64]:
        """None: the figure of a call counts it."""
        return np.zeros(np.shape(tile[workload.dims[0].name]), dtype=np.int64)

    def estimate(self, workload: Workload) -> str:
        """Why the figures of a layer are not counted ones of its form, and factors that are guessed."""
        rivals = RIVALLED in workload.parameters
        workload, zeros = self._apart(workload)
        keys = figures_keys(workload)
        factors = {
            "share of products with an operand 0": counts_of(workload, zeros) != counts_of(workload, None),
            "instructions of varied kernels": self._luck(workload, keys, rivals) != 1.0,
        }
        reasons = (estimate_of(self.core, keys, self._key(keys)), *(name for name, used in factors.items() if used))
        return "" if workload.kind == "host_view" else "; ".join(filter(None, reasons))

    def _apart(self, workload: Workload) -> tuple[Workload, float | None]:
        """The workload without the share of zeros that it tells, and the share that counts, None with an FPU."""
        workload, told = apart(workload)
        return workload, None if not self.soft else told if self.zeros is None else self.zeros

    def _luck(self, workload: Workload, keys: tuple[str, ...], rivals: bool) -> float:
        """What a kernel costs relative to its figures."""
        key, computed = self._key(keys), _COMPUTED in keys[0]
        one_output = stored(workload) and workload.operands[1].axes[-1].size == 1  # its sums stay in registers
        rivals = rivals and not one_output and "transpose" not in workload.kind
        single = is_wider(keys, key) and any(_SINGLE in key for key in keys)
        fused = computed and any(word in workload.kind for word in ("requant", "region"))
        luck = self.luck if rivals or single or fused else 1.0
        few = rivals and _FEW_RESULTS in keys[0] and _FEW_RESULTS not in key
        return max(luck, _COMPUTED_LUCK) if few or computed else luck

    def _key(self, keys: tuple[str, ...]) -> str:
        return next((key for key in keys if key in self.figures), GENERAL)


def cost_on(core: str) -> FittedCost:
    """The model of a core by its name."""
    known = CORE_NAMED[core]
    luck = 1.0 if known.dsp else _LUCK
    return FittedCost(figures=figures_of(core), luck=luck, soft=not known.fpu, shifts=known.shifts, core=core)
