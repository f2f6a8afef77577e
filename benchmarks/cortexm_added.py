"""Figures of forms and counts that have none yet, from the newest kinds of made layers alone.

``python -m benchmarks.cortexm_added [CORE ...]`` counts a tenth of what ``benchmarks.cortexm_fit`` does: the networks
of ``cortexm_apart.newest_networks``, which the latter has, too. Figures that are there stay as they are; counts of own
kernels that have none get what the others leave of each layer. The next whole fit decides all figures.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np
from match_cortexm.cores import CORE_NAMED
from match_cortexm.figures import FILE, GENERAL, LIKE, OWN, OWN_FILE, figures_of

from benchmarks.cortexm_apart import newest_networks
from benchmarks.cortexm_counts import CORES, Layer, explored_layers
from benchmarks.cortexm_fit import COLLECTED, Figures, fitted, nonnegative, total, write


def added_counts(layers: Sequence[Layer], known: Mapping[str, float]) -> Figures:
    """Instructions of the counts of own kernels that ``known`` lacks: the least squares of what its figures leave of
    each layer, relative to the layer."""
    groups, found = defaultdict[str, list[Layer]](list), dict[str, float]()
    for layer in (layer for layer in layers if layer.keys == (OWN,)):
        form = next(name for name in layer.counts if name != "elements").rsplit("_", 1)[0]
        if any(name not in known and name != "elements" for name in layer.counts):
            groups[form].append(layer)
    for form, group in sorted(groups.items()):
        names = sorted({name for layer in group for name in layer.counts} - {"elements", *known})
        rows = np.array([[layer.counts.get(name, 0) / layer.counted for name in names] for layer in group], float)
        left = np.array([1 - total(layer, known) / layer.counted for layer in group])
        values = nonnegative(rows, left)
        found |= {name: round(float(value), 3) for name, value in zip(names, values, strict=True)}
        errors = np.abs(rows @ values - left)
        text = f"{len(group):4} layers, median {np.median(errors):6.1%}, worst {np.max(errors):6.1%}"
        sys.stdout.write(f"{f'{OWN} {form}: ' + ', '.join(names):100} {text}\n")
    return found


def main(arguments: Sequence[str]) -> int:
    """Add the figures and print the errors of the fit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cores", nargs="*", metavar="CORE", help=f"of {', '.join(CORES)}; default: those with figures")
    options = parser.parse_args(arguments)
    for core in options.cores or [core for core in CORES if core not in LIKE]:
        layers = []
        for seed, rounds, spread in COLLECTED:
            layers += explored_layers(core, seed, rounds, spread, newest_networks)
        sys.stdout.write(f"{core}: {len(layers)} layers\n")
        own, others = (json.loads(file.read_text(encoding="utf-8"))[core] for file in (OWN_FILE, FILE))
        found = fitted(layers, CORE_NAMED[core].unaligned, others[GENERAL])
        own[OWN] |= added_counts(layers, figures_of(core)[OWN])
        write(core, own, {**{key: found[key] for key in found.keys() - own.keys()}, **others})
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
