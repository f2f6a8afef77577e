"""Instructions of the parts of kernels on Cortex-M cores, fitted to counts on the emulator.

``python -m benchmarks.cortexm_fit [CORE ...]`` compiles made networks (cortexm_made.py) for each core, runs them on
QEMU, and writes ``match_cortexm/figures.json`` and ``own.json``. Kernels are chosen without figures
(``cortexm_counts.explored_layers``), so the file depends on nothing but the command. Networks that the same code
compiled before are not counted again (cortexm_cache.py). The sum of absolute logarithms of modelled by counted
instructions is least; no part is negative; a part joins a form's figures if layers that were left out, the largest
too, are predicted better with it. The fit's errors are printed; ``python -m benchmarks.cortexm_layers`` prints those of
layers that it has not seen.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import takewhile

import numpy as np
from match_cortexm.cores import CORE_NAMED
from match_cortexm.counts import CALLS as FUNCTIONS
from match_cortexm.figures import FILE, GENERAL, LIKE, OWN, OWN_FILE
from match_host.constants import OPERATION_CYCLES

from benchmarks.cortexm_counts import CORES, Layer, explored_layers

#: Layers of each kind, where kernels compete at the host's costs and where these vary by a power of e: (seed, rounds,
#: power).
COLLECTED = ((0, 8, 0.0), (2, 5, 0.7))
#: Layers that figures need, at least.
FEWEST = 3
#: Copies of single elements and windows of pooling need more layers: the core's own kernels take most of them, and
#: leave odd ones.
MANY, ALONE = 5, (", elements", ", loops", ", few columns")
#: Products of regions and those of integers of one pattern need more too: compilers keep the sums of some loops in
#: registers and those of others, of the same form, on the stack, which differ twofold. Few layers tell their luck, many
#: the mean.
STORED_FEWEST = 12
#: Copies whose instructions differ fourfold with sizes that no form tells: without figures they stay a last choice, on
#: cores with a kernel of their own for such elements.
TILES = "tiles"
#: Instructions of a call: above that, layers are too much of a size to tell it.
MOST_CALL = 250
#: Rounds of the fit, of those that are tried, and the relative error below which layers count the same.
REWEIGHTED, TRIED, LEAST = 30, 6, 0.02
#: Parts of the layers that are left out one after another, beside the largest third; the largest error that counts of
#: them (a logarithm), and what is left of their mean square error with a count that helps.
PARTS, MOST_ERROR, GAIN = 4, 2.0, 0.94
#: Counts of products: their kernels do little else, and store results.
PRODUCTS = ("tile_macs", "floating_tile_macs", "stored", "inside")
#: Counts of windows and lines that are combined.
TERMS = ("memory", "visits", "inside")
#: Products and turns of whole windows, which do not count where those of tiles do.
WHOLE = ("tile_macs", "floating_tile_macs", "memory", "steps")
#: Counts that grow with products. Figures of none of them fit the sizes of few layers, and no others.
GROWING = {*PRODUCTS, *TERMS, *WHOLE, "nonzero", "values", "tiles"}
#: Few layers do not tell products from results, or what other shares of zeros take.
SUMS_FEWEST = 8
#: Operations of many instructions, which cost what they do in general where no layer of some figures has them.
CALLS = ("special", "floating_divide", "wide_divide")
#: Counts of what follows products, which many layers tell apart.
RESULTS = ("floating", "compared", "limited", "scattered")
#: Layers without figures of a narrower form that decide those of a wider one alone, but for products, whose kernels
#: differ in what comes after the sums.
REST, ALL, PLAIN = 5, (OWN, "products", "regions"), ", plain"
#: Digits of factors of products of 64 bits, which cost the same in all forms.
DIGITS = "digits_wide"
#: What products of some places take, whatever comes after their sums: plain ones have few layers.
PLACES = ("copied", "edges", "looked", "stepped", "clamped", "partial")
#: Of all sums of integers: what follows those of a form may be missing in its layers.
SUMMED = "products, integer"
#: Windows to so few results that their loops are unrolled whole decide their own figures only.
TO_FEW = " to few"
#: Products that decide no figures of others, which requantise at once: only their own, and those of plain sums.
LEFT = "host_mat_mul_integer "
#: Counts of sums of floats on cores without an FPU, the first of the former: calls, which take nearly all instructions.
SUMS, CALLED = (
    ("stored", "floating_tile_macs"),
    (
        "inside",
        "nonzero",
        "elements",
        "floating",
        "sums",
        "compared",
        "multiplied",
        "quantised",
        "fractions",
        "checks",
        "divided",
        *CALLS,
    ),
)
Figures = dict[str, float]


def nonnegative(rows: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Least squares without negative coefficients: the most negative one is left out until none is."""
    used = list(np.flatnonzero(np.abs(rows).sum(axis=0)))
    while used:
        values = np.linalg.lstsq(rows[:, used], wanted, rcond=None)[0]
        if values.min() >= 0:
            result = np.zeros(rows.shape[1])
            result[used] = values
            return result
        used.pop(int(values.argmin()))
    return np.zeros(rows.shape[1])


def solved(rows: np.ndarray, rounds: int) -> np.ndarray:
    """Instructions of each count, of ``rows`` [layers, counts] by counted instructions: least squares with weights that
    make them least logarithms."""
    weights, values = np.ones(len(rows)), np.zeros(rows.shape[1])
    for _ in range(rounds):
        values = nonnegative(rows * weights[:, None], weights)
        ratio = np.maximum(rows @ values, 1e-3)
        weights = np.sqrt(np.maximum(np.abs(np.log(ratio)), LEAST)) / np.maximum(np.abs(ratio - 1), LEAST)
    return values


def unseen_error(rows: np.ndarray, parts: Sequence[np.ndarray]) -> float:
    """The mean square logarithm for layers that the fit does not see, each of ``parts`` in turn."""
    errors: list[float] = []
    for part in parts:
        kept = np.delete(rows, part, axis=0)
        ratio = rows[part] @ solved(kept, TRIED) if len(kept) else np.zeros(len(part))
        errors += list(np.minimum(np.abs(np.log(np.maximum(ratio, 1e-3))), MOST_ERROR))
    return float(np.mean(np.square(errors)))


def fit(layers: Sequence[Layer], names: Sequence[str], every: bool = False, first: Sequence[str] = PRODUCTS) -> Figures:
    """Instructions of each named count that helps; one of ``first`` comes first where there are any. ``every``: all
    counts."""
    rows = np.array([[_count(layer, name) / layer.counted for name in names] for layer in layers], float)
    order = np.argsort([layer.counted for layer in layers], kind="stable")
    parts = [*(order[start::PARTS] for start in range(min(PARTS, len(order)))), order[-max(1, len(order) // 3) :]]
    used = list(range(len(names))) if every else []
    best = np.inf
    while len(used) < len(names):
        among = [place for place, name in enumerate(names) if name in first] if not used else []
        among = [n for n in among or range(len(names)) if n not in used and rows[:, n].any()]
        tried = [(unseen_error(rows[:, [*used, place]], parts), place) for place in among]
        if not tried or min(tried)[0] > best * GAIN:
            break
        best, place = min(tried)
        used.append(place)
        if names[place] in first and len(used) == 1:  # results cost something, where few layers tell how much
            stored = (
                "elements",
                "checks",
                "copied",
                "rest",
                *CALLS,
                FUNCTIONS,
                *((*RESULTS, DIGITS) if len(layers) >= STORED_FEWEST else ()),
            )
            used += [n for n, name in enumerate(names) if name.startswith(stored) and n not in used]
            best = unseen_error(rows[:, used], parts)
    values = zip(used, solved(rows[:, used], REWEIGHTED), strict=True)
    return {names[place]: round(float(value), 3) for place, value in values if value >= 0.0005}


def _count(layer: Layer, name: str) -> int:
    return 1 if name == "call" else layer.counts.get(name, 0)


def total(layer: Layer, figures: Mapping[str, float]) -> float:
    """The model's instructions of a layer."""
    return sum(value * _count(layer, name) for name, value in figures.items())


def enough(layers: Sequence[Layer], names: Sequence[str]) -> bool:
    """Whether layers decide figures, which would otherwise fit them and nothing else."""
    rows = np.array([[_count(layer, name) for name in ("call", *names)] for layer in layers], float)
    rank = int(np.linalg.matrix_rank(rows / np.maximum(rows.max(axis=0), 1)))
    return len(layers) >= max(FEWEST, rank)


def fewest(key: str, layers: Sequence[Layer]) -> int:
    """Layers that the figures of a key need."""
    has = {name for layer in layers for name in layer.counts}
    if "nonzero" in has or key.startswith(("products, integer", "products, shifted")):
        return SUMS_FEWEST
    if key.startswith("regions") or ("," in key and "tile_macs" in has and not key.startswith("products")):
        return STORED_FEWEST
    if "tiles" in has:
        return SUMS_FEWEST
    return MANY if key.endswith(ALONE) or has & {"visits", "stored"} == {"visits"} else FEWEST


def _is_shared(key: str) -> bool:
    """Whether products that requantise their sums have this key, too."""
    return key.startswith("products") and not key.endswith("plain")


def _is_known(layer: Layer) -> bool:
    """Whether compilers knew the only result, or those of the only channel, which saturates for all inputs."""
    elements, products = (layer.counts.get(name, 0) for name in ("elements", "tile_macs"))
    return layer.counted < (2 * products if elements == 1 else elements / 2 if products else 0)


def _specific(key: str, group: Sequence[Layer]) -> int:
    """The place of a key among those of its layers, the special ones first."""
    return max((layer.keys.index(key) for layer in group if key in layer.keys), default=0)


def fitted(layers: Sequence[Layer], unaligned: bool = True, general: Figures | None = None) -> dict[str, Figures]:
    """The figures of all keys that enough layers have. ``unaligned``: the core's own kernel moves tiles of any size;
    ``general``: those of any layer, if they are known."""
    groups = defaultdict[str, list[Layer]](list)
    for layer in (layer for layer in layers if not _is_known(layer)):
        if layer.keys == (OWN,):
            form = next(name for name in layer.counts if name != "elements").rsplit("_", 1)[0]
            groups[f"{OWN} {form}"].append(layer)
        left = layer.keys[0].startswith(LEFT)
        for key in (key for key in layer.keys if layer.keys != (OWN,) and not (left and _is_shared(key))):
            groups[key].append(layer)
    own = {name.split("_")[0] for layer in layers if layer.keys == (OWN,) for name in layer.counts}
    host = [layer for layer in layers if layer.keys != (OWN,)]
    functions = sorted({name for layer in host for name in layer.counts if name.startswith(FUNCTIONS)})
    names = ("call", *(constant.name for constant in OPERATION_CYCLES), *functions)
    found: dict[str, Figures] = {GENERAL: general or fit(host, names, every=True)}
    told: dict[str, set[str]] = {}
    for key in sorted(groups, key=lambda key: (_specific(key, groups[key]), key)):
        group = groups[key]
        rest = [layer for layer in group if found.keys().isdisjoint(takewhile(key.__ne__, layer.keys))]
        others = [layer for layer in group if not layer.keys[0].endswith(TO_FEW)]
        group = others if len(others) >= fewest(key, others) and not key.endswith(TO_FEW) else group
        decided = len(rest) >= max(REST, fewest(key, rest)) and not key.startswith(ALL) and not key.endswith(PLAIN)
        group = rest if decided else group
        names = list(dict.fromkeys(name for layer in group for name in layer.counts))
        if all("tiles" in layer.counts for layer in group):
            names = [name for name in names if name not in WHOLE]
        if key.startswith(OWN):
            names = [name for name in names if name != "elements"]
            # A count of 0 is a figure, too: other cores' figures complete those that are missing.
            figures = {**dict.fromkeys(names, 0.0), **fit(group, names, every=len(group) > 2 * len(names))}
            found.setdefault(OWN, {}).update(figures)
        elif unaligned and key.endswith(TILES) and f"transpose{key.split(',')[0].split()[-1]}" in own:
            continue
        elif enough(group, names) and len(group) >= fewest(key, group):
            sums = [name for name in SUMS if name in names][:1]
            functions_of = [name for name in names if name.startswith(FUNCTIONS)]
            called = [*sums, *(n for n in CALLED if n in names), *functions_of] if "nonzero" in names else []
            # Of any form no count may be free, and recurrent layers and chains have several in proportions of a size.
            every = "," not in key or bool(called) or key.endswith(("recurrent", "chain"))
            copied = ", few, " in key or (key.startswith("moves") and "elements" in key)
            first = TERMS if " taps" in key and "memory" in names else ("elements",) if copied else PRODUCTS
            figures = fit(group, called or ["call", *names], every, first)
            figures = figures if figures.get("call", 0) < MOST_CALL else fit(group, called or names, every, first)
            summed = any(name.endswith("macs") for layer in group for name in layer.counts)
            if summed and not figures.keys() & GROWING and not any(name.startswith(FUNCTIONS) for name in figures):
                continue
            other = "," not in key or summed
            known = found[GENERAL] if other else {}
            products = any(name in layer.counts for layer in group for name in PRODUCTS)
            begins = (*CALLS, FUNCTIONS) if "region" in key or products else CALLS
            calls = (name for name in known if name.startswith(begins) and name not in names)
            # Fewer layers do not tell what a count takes: it may have joined others of the same size.
            told[key] = {name for name in names if sum(layer.counts.get(name, 0) > 0 for layer in group) >= FEWEST}
            found[key] = {**{name: known[name] for name in calls}, **figures}
        else:
            continue
        errors = [total(layer, figures) / layer.counted - 1 for layer in group]
        median, worst = np.median(np.abs(errors)), np.max(np.abs(errors))
        sys.stdout.write(f"{key:60}{len(group):4} layers, median {median:6.1%}, worst {worst:6.1%}\n")
    digits = found.get(SUMMED, {}).get(DIGITS, 0)
    for figures in (found[key] for key in told if digits and "wide" in found[key]):
        figures.setdefault(DIGITS, digits)
    for key, names_of in told.items():
        wider = found.get(key.removesuffix(PLAIN) if key.endswith(PLAIN) else SUMMED, {})
        taken = PLACES if key.endswith(PLAIN) else RESULTS if key.startswith(SUMMED) else ()
        found[key] |= {name: wider[name] for name in taken if name in wider and name not in names_of}
    return found


def main(arguments: Sequence[str]) -> int:
    """Write the figures and print the errors of the fit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cores", nargs="*", metavar="CORE", help=f"of {', '.join(CORES)}; default: those with figures")
    options = parser.parse_args(arguments)
    for core in options.cores or [core for core in CORES if core not in LIKE]:
        layers = []
        for seed, rounds, spread in COLLECTED:
            layers += explored_layers(core, seed, rounds, spread)
        sys.stdout.write(f"{core}: {len(layers)} layers\n")
        found = fitted(layers, CORE_NAMED[core].unaligned)
        own = {key: values for key, values in found.items() if key == OWN}
        write(core, own, {key: found[key] for key in found.keys() - own.keys()})
    return 0


def write(core: str, own: Mapping[str, Figures], others: Mapping[str, Figures]) -> None:
    """Replace the figures of a core: of its own kernels, and of the host's."""
    for file, part in ((OWN_FILE, own), (FILE, others)):
        figures = {**json.loads(file.read_text(encoding="utf-8")), core: part}
        file.write_text(f"{json.dumps(figures, indent=1, sort_keys=True)}\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
