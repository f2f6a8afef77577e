/* carfield_cost_half.c - cycles of the binary16 kernels, as half/formulas.py computes them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "carfield_twin.h"
#include "match_carfield_charge.h"
#include "match_carfield_timing.h"

#define PIXELS 4u
#define PAIRS_LANES 4u

/* The figures of one cluster's cores. */
typedef struct {
  carfield_unit_t unit;
  uint64_t cores, call, tap, row, block, edge, step4, step1;
  uint64_t depthwise4, depthwise1, depthwise_block, depthwise_edge, depthwise_row;
  uint64_t pool4, pool1, pool_block, pool_edge, pool_row;
  uint64_t sum, gather, gather_row, softmax, softmax_row, layernorm, layernorm_row, gelu, scale_percent;
} figures_t;

#define FIGURES(number, U)                                                                                        \
  {                                                                                                               \
    .unit = (number), .cores = MATCH_CARFIELD_##U##_CORES, .call = MATCH_CARFIELD_##U##_CALL_CYCLES,              \
    .tap = MATCH_CARFIELD_##U##_TAP_CYCLES, .row = MATCH_CARFIELD_##U##_ROW_CYCLES,                               \
    .block = MATCH_CARFIELD_##U##_BLOCK_CYCLES, .step4 = MATCH_CARFIELD_##U##_STEP4_CYCLES,                       \
    .step1 = MATCH_CARFIELD_##U##_STEP1_CYCLES, .depthwise4 = MATCH_CARFIELD_##U##_DEPTHWISE4_CYCLES,             \
    .depthwise1 = MATCH_CARFIELD_##U##_DEPTHWISE1_CYCLES,                                                         \
    .depthwise_block = MATCH_CARFIELD_##U##_DEPTHWISE_BLOCK_CYCLES, .pool4 = MATCH_CARFIELD_##U##_POOL4_CYCLES,   \
    .pool1 = MATCH_CARFIELD_##U##_POOL1_CYCLES, .pool_block = MATCH_CARFIELD_##U##_POOL_BLOCK_CYCLES,             \
    .sum = MATCH_CARFIELD_##U##_SUM_CYCLES, .gather = MATCH_CARFIELD_##U##_GATHER_CYCLES,                         \
    .gather_row = MATCH_CARFIELD_##U##_GATHER_ROW_CYCLES, .softmax = MATCH_CARFIELD_##U##_SOFTMAX_CYCLES,         \
    .softmax_row = MATCH_CARFIELD_##U##_SOFTMAX_ROW_CYCLES, .layernorm = MATCH_CARFIELD_##U##_LAYERNORM_CYCLES,   \
    .layernorm_row = MATCH_CARFIELD_##U##_LAYERNORM_ROW_CYCLES, .gelu = MATCH_CARFIELD_##U##_GELU_CYCLES,         \
    .edge = MATCH_CARFIELD_##U##_EDGE_CYCLES, .depthwise_edge = MATCH_CARFIELD_##U##_DEPTHWISE_EDGE_CYCLES,       \
    .pool_edge = MATCH_CARFIELD_##U##_POOL_EDGE_CYCLES,                                                           \
    .depthwise_row = MATCH_CARFIELD_##U##_DEPTHWISE_ROW_CYCLES,                                                   \
    .pool_row = MATCH_CARFIELD_##U##_POOL_ROW_CYCLES,                                                             \
    .scale_percent = MATCH_CARFIELD_##U##_SCALE_PERCENT,                                                          \
  }

static const figures_t pulp = FIGURES(CARFIELD_PULP, PULP), spatz = FIGURES(CARFIELD_SPATZ, SPATZ);

static uint64_t up(uint64_t size, uint64_t divisor) { return (size + divisor - 1u) / divisor; }

static uint64_t least(uint64_t a, uint64_t b) { return (a < b) ? a : b; }

static uint64_t most(uint64_t a, uint64_t b) { return (a > b) ? a : b; }

/* ---- blocks of pixels by vectors of channels ------------------------------------------------------------------ */

typedef struct {
  uint64_t parts, lanes, last;
} vectors_t;

static vectors_t vectors_of(const figures_t *f, uint64_t channels, uint64_t blocks) {
  vectors_t v = {.parts = up(channels, PAIRS_LANES), .lanes = PAIRS_LANES};
  if (f->unit == CARFIELD_SPATZ) {
    const uint64_t wanted = (blocks < f->cores) ? f->cores : 1u;
    const uint64_t fewest = up(channels, MATCH_CARFIELD_SPATZ_LANES);
    const uint64_t parts = most(fewest, least(wanted, up(channels, MATCH_CARFIELD_SPATZ_FPU_ELEMENTS)));
    v.lanes = up(up(channels, parts), 4u) * 4u;
    v.parts = up(channels, v.lanes);
  }
  v.last = channels - (v.parts - 1u) * v.lanes;
  return v;
}

/* Cycles of Spatz's ports for n elements of rows of k. */
static uint64_t load(uint64_t n, uint64_t k) {
  return (k % 4u == 0u) ? up(n, MATCH_CARFIELD_SPATZ_LOAD_ELEMENTS) : up(n, MATCH_CARFIELD_SPATZ_SINGLE_ELEMENTS);
}

/* What a row of blocks is made of: `four` and `one` for all taps of a block of four pixels and of a single pixel. */
static uint64_t row_cycles(uint64_t columns, uint64_t frame, uint64_t four, uint64_t one) {
  const uint64_t rest = columns % PIXELS;
  return columns / PIXELS * (frame + four) + ((rest > 0u) ? frame : 0u) + rest * one;
}

static uint64_t shared(const figures_t *f, uint64_t total, uint64_t items) {
  return up(total * up(items, f->cores), items);
}

typedef struct {
  uint64_t rows, columns, k, c, fy, fx;
} mixing_t;

static uint64_t mixing_row(const figures_t *f, const mixing_t *m, uint64_t n) {
  uint64_t step4 = f->step4, step1 = f->step1, tap = f->tap;
  if (f->unit == CARFIELD_SPATZ) {
    const uint64_t fpu = up(n, MATCH_CARFIELD_SPATZ_FPU_ELEMENTS), ports = load(n, m->k);
    step4 = most(step4, most(up(PIXELS * fpu * 100u, MATCH_CARFIELD_SPATZ_FPU_PERCENT), ports));
    step1 = most(step1, most(fpu, ports) + MATCH_CARFIELD_SPATZ_LOAD_CYCLES);
    tap += MATCH_CARFIELD_SPATZ_LOAD_CYCLES;
  } else if (n != PAIRS_LANES) {
    step4 = MATCH_CARFIELD_PULP_STEP4_REST_CYCLES;
    step1 = MATCH_CARFIELD_PULP_STEP1_REST_CYCLES;
  }
  const uint64_t steps = m->fy * m->fx * m->c, frame = f->block + m->fy * (f->row + m->fx * tap);
  const uint64_t alone = m->c * ((3u * step1 > step4) ? 3u * step1 - step4 : 0u);
  const uint64_t edges = (m->fx > 1u) ? 2u * m->fy * (m->fx * f->edge + alone) : 0u;
  return row_cycles(m->columns, frame, steps * step4, steps * step1) + edges;
}

static uint64_t mixing(const figures_t *f, mixing_t m) {
  const uint64_t blocks = m.rows * up(m.columns, PIXELS);
  const vectors_t v = vectors_of(f, m.k, blocks);
  const uint64_t row = (v.parts - 1u) * mixing_row(f, &m, v.lanes) + mixing_row(f, &m, v.last);
  return shared(f, m.rows * row, blocks * v.parts);
}

typedef struct {
  uint64_t rows, columns, k, fy, fx;
  int weighs;
} channels_t;

static uint64_t channels_row(const figures_t *f, const channels_t *c, uint64_t n) {
  uint64_t four = c->weighs ? f->depthwise4 : f->pool4, one = c->weighs ? f->depthwise1 : f->pool1;
  if (f->unit == CARFIELD_SPATZ) {
    const uint64_t weights = c->weighs ? load(n, c->k) : 0u;
    const uint64_t pixel =
        up(n, MATCH_CARFIELD_SPATZ_FPU_ELEMENTS) + MATCH_CARFIELD_SPATZ_LOAD_CYCLES + load(n, c->k);
    four = most(four, PIXELS * pixel + weights);
    one = most(one, pixel + weights);
  }
  const uint64_t taps = c->fy * c->fx, edge = c->weighs ? f->depthwise_edge : f->pool_edge;
  const uint64_t frame = (c->weighs ? f->depthwise_block : f->pool_block) +
                         (c->fy - 1u) * (c->weighs ? f->depthwise_row : f->pool_row);
  return row_cycles(c->columns, frame, taps * four, taps * one) +
         ((c->fx > 1u) ? 2u * taps * edge : 0u);
}

static uint64_t channels(const figures_t *f, channels_t c) {
  const uint64_t blocks = c.rows * up(c.columns, PIXELS);
  const vectors_t v = vectors_of(f, c.k, blocks);
  const uint64_t row = (v.parts - 1u) * channels_row(f, &c, v.lanes) + channels_row(f, &c, v.last);
  return shared(f, c.rows * row, blocks * v.parts);
}

static uint64_t gather(const figures_t *f, uint64_t rows, uint64_t size) {
  uint64_t vectors = up(size, (f->unit == CARFIELD_PULP) ? PAIRS_LANES : MATCH_CARFIELD_SPATZ_LANES) * f->gather;
  if (f->unit == CARFIELD_SPATZ) {
    const uint64_t stores = up(size, MATCH_CARFIELD_SPATZ_LOAD_ELEMENTS);
    vectors = most(vectors, up(size, MATCH_CARFIELD_SPATZ_STRIDED_ELEMENTS) + stores);
  }
  return up(rows, f->cores) * (f->gather_row + vectors);
}

static uint64_t sum(const figures_t *f, uint64_t elements) {
  const uint64_t each = up(elements, f->cores);
  if (f->unit == CARFIELD_PULP) {
    return up(each, PAIRS_LANES) * f->sum;
  }
  const uint64_t vectors = up(each, MATCH_CARFIELD_SPATZ_LANES);
  return most(vectors * f->sum,
              3u * up(each, MATCH_CARFIELD_SPATZ_LOAD_ELEMENTS) + vectors * MATCH_CARFIELD_SPATZ_LOAD_CYCLES);
}

/* ---- kernels of both clusters ---------------------------------------------------------------------------------- */

static void spend(const figures_t *f, const char *name, uint64_t cycles) {
  carfield_kernel(f->unit, name, up(cycles * f->scale_percent, 100u));
}

static mixing_t conv_of(const match_half_conv2d_t *t) {
  const int flat = t->fy * t->fx == 1u && t->stride_y * t->stride_x == 1;
  const mixing_t m = {.rows = flat ? 1u : t->oy, .columns = flat ? (uint64_t)t->oy * t->ox : t->ox, .k = t->k,
                      .c = t->c, .fy = t->fy, .fx = t->fx};
  return m;
}

static mixing_t rows_of(uint64_t rows, uint64_t k, uint64_t c) {
  const mixing_t m = {.rows = 1u, .columns = rows, .k = k, .c = c, .fy = 1u, .fx = 1u};
  return m;
}

static uint64_t group(const figures_t *f, const match_half_group2d_t *t) {
  const int flat = t->fy * t->fx == 1u && t->stride_y * t->stride_x == 1;
  const mixing_t m = {.rows = flat ? 1u : t->oy, .columns = flat ? (uint64_t)t->oy * t->ox : t->ox, .k = t->kg,
                      .c = t->cg, .fy = t->fy, .fx = t->fx};
  return t->g * (f->call + mixing(f, m));
}

static uint64_t turn(const figures_t *f, const match_half_matmul_t *t) {
  return (t->b_transposed != 0) ? gather(f, (uint64_t)t->b * t->c, t->k) : 0u;
}

static uint64_t product(const figures_t *f, const match_half_matmul_t *t) {
  return t->b * (f->call + mixing(f, rows_of(t->m, t->k, t->c))) + turn(f, t);
}

static uint64_t depthwise(const figures_t *f, const match_half_depthwise2d_t *t) {
  const channels_t c = {.rows = t->oy, .columns = t->ox, .k = t->k, .fy = t->fy, .fx = t->fx, .weighs = 1};
  return f->call + channels(f, c);
}

static uint64_t pool(const figures_t *f, const match_half_pool2d_t *t) {
  const channels_t c = {.rows = t->oy, .columns = t->ox, .k = t->c, .fy = t->fy, .fx = t->fx};
  return f->call + channels(f, c);
}

static uint64_t rows(const figures_t *f, uint64_t count, uint64_t row, uint64_t size, uint64_t element) {
  return f->call + up(count, f->cores) * (row + size * element);
}

#define KERNELS(u)                                                                                                \
  void match_carfield_twin_##u##_conv2d(const match_half_conv2d_t *t) {                                           \
    spend(&u, #u "_conv2d", u.call + mixing(&u, conv_of(t)));                                                     \
  }                                                                                                               \
  void match_carfield_twin_##u##_group2d(const match_half_group2d_t *t) {                                         \
    spend(&u, #u "_group2d", group(&u, t));                                                                       \
  }                                                                                                               \
  void match_carfield_twin_##u##_depthwise2d(const match_half_depthwise2d_t *t) {                                 \
    spend(&u, #u "_depthwise2d", depthwise(&u, t));                                                               \
  }                                                                                                               \
  void match_carfield_twin_##u##_linear(const match_half_linear_t *t) {                                           \
    spend(&u, #u "_linear", u.call + mixing(&u, rows_of(t->n, t->k, t->c)));                                      \
  }                                                                                                               \
  void match_carfield_twin_##u##_matmul(const match_half_matmul_t *t) {                                           \
    spend(&u, #u "_matmul", product(&u, t));                                                                      \
  }                                                                                                               \
  void match_carfield_twin_##u##_pool2d(const match_half_pool2d_t *t) {                                           \
    spend(&u, #u "_pool2d", pool(&u, t));                                                                         \
  }                                                                                                               \
  void match_carfield_twin_##u##_add(const match_half_add_t *t) {                                                 \
    spend(&u, #u "_add", u.call + sum(&u, (uint64_t)t->y * t->x * t->c));                                         \
  }                                                                                                               \
  void match_carfield_twin_##u##_softmax(const match_half_softmax_t *t) {                                         \
    spend(&u, #u "_softmax", rows(&u, t->r, u.softmax_row, t->c, u.softmax));                                     \
  }                                                                                                               \
  void match_carfield_twin_##u##_layernorm(const match_half_layernorm_t *t) {                                     \
    spend(&u, #u "_layernorm", rows(&u, t->r, u.layernorm_row, t->c, u.layernorm));                               \
  }                                                                                                               \
  void match_carfield_twin_##u##_gelu(const match_half_gelu_t *t) {                                               \
    spend(&u, #u "_gelu", u.call + up((uint64_t)t->y * t->x * t->c, u.cores) * u.gelu);                           \
  }                                                                                                               \
  void match_carfield_twin_##u##_transpose(const match_half_transpose_t *t) {                                     \
    spend(&u, #u "_transpose", u.call + gather(&u, t->c, t->r));                                                  \
  }

KERNELS(pulp)
KERNELS(spatz)

/* ---- RedMulE --------------------------------------------------------------------------------------------------- */

static uint64_t jobs(uint64_t count, uint64_t m, uint64_t n, uint64_t k) {
  const uint64_t steps = up(n, MATCH_CARFIELD_REDMULE_HEIGHT) * MATCH_CARFIELD_REDMULE_HEIGHT;
  const uint64_t passes = up(m, MATCH_CARFIELD_REDMULE_ROWS) * up(k, MATCH_CARFIELD_REDMULE_COLUMNS);
  const uint64_t port = steps + MATCH_CARFIELD_REDMULE_ROWS * (up(n, MATCH_CARFIELD_REDMULE_COLUMNS) + 2u);
  const uint64_t run = passes * most(steps * MATCH_CARFIELD_REDMULE_STEP_CYCLES, port);
  return MATCH_CARFIELD_REDMULE_PROGRAM_CYCLES + count * (MATCH_CARFIELD_REDMULE_JOB_CYCLES + run);
}

static void redmule(const char *name, uint64_t outputs, uint64_t k, uint64_t products) {
  const uint64_t vectors = up(outputs * up(k, PAIRS_LANES), pulp.cores);
  const uint64_t each = vectors * (MATCH_CARFIELD_PULP_CLEAR_CYCLES + MATCH_CARFIELD_PULP_FINISH_CYCLES);
  spend(&pulp, name, pulp.call + each + products);
}

void match_carfield_twin_redmule_conv2d(const match_half_conv2d_t *t) {
  const mixing_t m = conv_of(t);
  redmule("redmule_conv2d", m.rows * m.columns, m.k, jobs(m.rows * m.fy * m.fx, m.columns, m.c, m.k));
}

void match_carfield_twin_redmule_linear(const match_half_linear_t *t) {
  redmule("redmule_linear", t->n, t->k, jobs(1u, t->n, t->c, t->k));
}

void match_carfield_twin_redmule_matmul(const match_half_matmul_t *t) {
  redmule("redmule_matmul", (uint64_t)t->b * t->m, t->k, jobs(t->b, t->m, t->c, t->k) + turn(&pulp, t));
}
