/* carfield_redmule.c - RedMulE's function, bit for bit: chains of fused multiply-adds in binary16 in the order of N
 * (rtl/redmule_row.sv, rtl/redmule_engine.sv; golden-model/common/redmule_fma.py says the same). Time is charged with
 * the kernels.
 * SPDX-License-Identifier: Apache-2.0 */
#include "redmule.h"

#include "carfield_twin.h"
#include "match_carfield_redmule.h"
#include "match_half.h"
#include "match_twin.h"

#define HALF_BYTES 2u

static uint32_t words[MATCH_CARFIELD_REDMULE_WORDS];
static uint32_t jobs;

static uint16_t *matrix(uint32_t word, uint32_t rows, uint32_t columns, const char *what)
{
    const size_t bytes = (size_t)rows * columns * HALF_BYTES;
    return (uint16_t *)(void *)carfield_l1_pointer(CARFIELD_PULP, words[word], bytes, what);
}

static double number(match_half_t half)
{
    return (double)match_half_to_float(half);
}

/* One row of Z. The array's height divides what it computes: zeros are added, which turn a sum of -0 into +0. */
static void add_row(const match_half_t *x, const match_half_t *w, match_half_t *z, uint32_t n, uint32_t k)
{
    const uint32_t zeros = n % MATCH_CARFIELD_REDMULE_CHAIN;
    for (uint32_t column = 0u; column < k; column++) {
        double sum = number(z[column]);
        for (uint32_t i = 0u; i < n; i++) {
            sum = match_half_nearest(number(x[i]) * number(w[i * k + column]) + sum);
        }
        z[column] = match_half_from_double((zeros != 0u) ? sum + 0.0 : sum);
    }
}

static void run(void)
{
    const uint32_t m = words[MATCH_CARFIELD_REDMULE_K_M] & 0xFFFFu, k = words[MATCH_CARFIELD_REDMULE_K_M] >> 16;
    const uint32_t n = words[MATCH_CARFIELD_REDMULE_N] & 0xFFFFu;
    if (words[MATCH_CARFIELD_REDMULE_ARITHMETIC] != (MATCH_CARFIELD_REDMULE_GEMM | MATCH_CARFIELD_REDMULE_BINARY16)) {
        match_twin_fault("RedMulE: only the sum of products in binary16 is modelled");
    }
    if (m == 0u || n == 0u || k == 0u) {
        match_twin_fault("RedMulE: a size is 0");
    }
    const match_half_t *const x = matrix(MATCH_CARFIELD_REDMULE_X, m, n, "RedMulE's X");
    const match_half_t *const w = matrix(MATCH_CARFIELD_REDMULE_W, n, k, "RedMulE's W");
    match_half_t *const z = matrix(MATCH_CARFIELD_REDMULE_Z, m, k, "RedMulE's Z");
    for (uint32_t row = 0u; row < m; row++) {
        add_row(x + row * n, w, z + row * k, n, k);
    }
}

uint32_t carfield_redmule_read(uint32_t offset)
{
    if (offset == MATCH_CARFIELD_REDMULE_ACQUIRE) {
        return jobs++ & 0xFFu;
    }
    if (offset != MATCH_CARFIELD_REDMULE_STATUS) {
        match_twin_faultf("RedMulE: register 0x%x is not modelled", (unsigned)offset);
    }
    return 0u;
}

void carfield_redmule_write(uint32_t offset, uint32_t value)
{
    const uint32_t first = MATCH_CARFIELD_REDMULE_JOB;
    if (offset == MATCH_CARFIELD_REDMULE_TRIGGER) {
        run();
    } else if (offset >= first && offset < first + 4u * MATCH_CARFIELD_REDMULE_WORDS && offset % 4u == 0u) {
        words[(offset - first) / 4u] = value;
    } else {
        match_twin_faultf("RedMulE: register 0x%x is not modelled", (unsigned)offset);
    }
}
