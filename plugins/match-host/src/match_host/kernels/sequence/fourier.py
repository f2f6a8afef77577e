"""The Fourier transform of one line in C, and its table of turns exp(+-2 pi i k / n)."""

from __future__ import annotations

import numpy as np

from match_host.kernels.code import Uses, literal, table
from match_host.kernels.scalar import scalar_type, suffix


def turn_table(length: int, inverse: bool, dtype: np.dtype[np.generic]) -> tuple[str, ...]:
    """Lines that declare the table ``turns`` of a known length."""
    angles = 2 * np.pi * np.arange(length) / length * (1 if inverse else -1)
    numbers = np.stack([np.cos(angles), np.sin(angles)], axis=-1).reshape(-1).astype(dtype)
    texts = [literal(float(number), dtype) for number in numbers]
    return table(scalar_type(dtype), "turns", texts)


def turns_function(uses: Uses, dtype: np.dtype[np.generic]) -> str:
    """A helper that fills the table at run time; returns its C name."""
    uses.include("math.h")
    kind, name = scalar_type(dtype), f"host_turns_{suffix(dtype)}"
    return uses.helper(name, _TURNS.replace("NAME", name).replace("KIND", kind))


def fourier(uses: Uses, dtype: np.dtype[np.generic]) -> str:
    """A helper that transforms a line of complex numbers between two buffers and returns the one with the result.

    A pass handles one prime factor p of the remaining length: out[k + s (p q + r)] is the sum over t of
    in[k + s (q + m t)] rotated by (t n / p r + q s r) / n turns; s is the product of the factors before and m the
    remaining length after (C. Van Loan, Computational Frameworks for the Fast Fourier Transform, 1992, section 1.7).
    Terms t and p - t share their cosines and sines. Operations have the order of numpy's library (pocketfft).
    """
    kind, name = scalar_type(dtype), f"host_fourier_{suffix(dtype)}"
    return uses.helper(name, _FOURIER.replace("NAME", name).replace("KIND", kind))


_TURNS = """\
/* exp(sign * 2 pi i k / length) for all k. */
static inline void NAME(KIND *turns, int32_t length, int32_t sign)
{
    const double step = sign * 6.283185307179586 / length;
    for (int32_t k = 0; k < length; k++) {
        turns[2 * k] = (KIND)cos(k * step);
        turns[2 * k + 1] = (KIND)sin(k * step);
    }
}
"""

_FOURIER = """\
/* One pass for each prime factor of the length, from the smallest (Stockham's order). */
static inline KIND *NAME(const KIND *turns, int32_t length, KIND *from, KIND *to)
{
    int32_t span = 1, factor = 2;
    for (int32_t rest = length; rest > 1; span *= factor) {
        while (rest % factor != 0) {
            factor++;
        }
        rest /= factor;
        const int32_t apart = 2 * span * rest, part = length / factor;
        for (int32_t i = 0; i < span * rest; i++) {
            const int32_t q = i / span, k = i % span;
            const KIND *const in = from + 2 * i;
            KIND *const out = to + 2 * (span * factor * q + k);
            for (int32_t r = 0; 2 * r <= factor; r++) {
                KIND sum[2] = {in[0], in[1]}, turned[2] = {0, 0};
                int32_t t = 1;
                for (; 2 * t < factor; t++) {
                    const KIND *const low = in + t * apart, *const high = in + (factor - t) * apart;
                    const KIND *const turn = turns + 2 * ((int64_t)t * r % factor) * part;
                    sum[0] += turn[0] * (low[0] + high[0]);
                    sum[1] += turn[0] * (low[1] + high[1]);
                    turned[0] -= turn[1] * (low[1] - high[1]);
                    turned[1] += turn[1] * (low[0] - high[0]);
                }
                if (2 * t == factor) {
                    const KIND sign = r % 2 == 0 ? (KIND)1 : (KIND)-1;
                    sum[0] += sign * in[t * apart];
                    sum[1] += sign * in[t * apart + 1];
                }
                const KIND both[4] = {sum[0] + turned[0], sum[1] + turned[1], sum[0] - turned[0], sum[1] - turned[1]};
                for (int32_t side = 0; side < (r == 0 || 2 * r == factor ? 1 : 2); side++) {
                    const int32_t place = side == 0 ? r : factor - r;
                    const KIND *const turn = turns + 2 * ((int64_t)place * q * span % length);
                    const KIND x = both[2 * side], y = both[2 * side + 1];
                    out[2 * span * place] = x * turn[0] - y * turn[1];
                    out[2 * span * place + 1] = x * turn[1] + y * turn[0];
                }
            }
        }
        KIND *const done = to;
        to = from;
        from = done;
    }
    return from;
}
"""
