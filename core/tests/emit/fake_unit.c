/* fake_unit.c - see fake_unit.h. SPDX-License-Identifier: Apache-2.0 */
#include "fake_unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POISON 0xA5
#define STORE_BASE 0x10000000u

static _Noreturn void fault(const char *text)
{
    fprintf(stderr, "fault: %s\n", text);
    exit(3);
}

/* ---- queues of copies ------------------------------------------------------------------------------------------- */

typedef struct {
    uint8_t *to;
    const uint8_t *from;
    uint32_t bytes;
} copy_t;
typedef struct {
    copy_t copy[8192];
    uint32_t count;
} queue_t;
/* Each unit has its own. */
static _Thread_local queue_t copies, store_copies;

static void put(queue_t *queue, void *to, const void *from, uint32_t bytes)
{
    if (queue->count == sizeof queue->copy / sizeof queue->copy[0]) {
        fault("too many copies in flight");
    }
    queue->copy[queue->count++] = (copy_t){to, from, bytes};
    memset(to, POISON, bytes);
}

static void perform(queue_t *queue)
{
    for (uint32_t i = 0; i < queue->count; i++) {
        memcpy(queue->copy[i].to, queue->copy[i].from, queue->copy[i].bytes);
    }
    queue->count = 0;
}

void copy_wait(void) { perform(&copies); }

void in_3d(void *near, const void *far, uint32_t planes, uint32_t rows, uint32_t row_bytes, uint32_t row_stride,
           uint32_t plane_stride)
{
    for (uint32_t p = 0; p < planes; p++) {
        for (uint32_t r = 0; r < rows; r++) {
            put(&copies, (uint8_t *)near + (p * rows + r) * row_bytes,
                (const uint8_t *)far + p * plane_stride + r * row_stride, row_bytes);
        }
    }
}
void in_2d(void *near, const void *far, uint32_t rows, uint32_t row_bytes, uint32_t row_stride)
{
    in_3d(near, far, 1, rows, row_bytes, row_stride, 0);
}
void in_1d(void *near, const void *far, uint32_t bytes) { in_3d(near, far, 1, 1, bytes, 0, 0); }

void out_3d(void *far, const void *near, uint32_t planes, uint32_t rows, uint32_t row_bytes, uint32_t row_stride,
            uint32_t plane_stride)
{
    for (uint32_t p = 0; p < planes; p++) {
        for (uint32_t r = 0; r < rows; r++) {
            put(&copies, (uint8_t *)far + p * plane_stride + r * row_stride,
                (const uint8_t *)near + (p * rows + r) * row_bytes, row_bytes);
        }
    }
}
void out_2d(void *far, const void *near, uint32_t rows, uint32_t row_bytes, uint32_t row_stride)
{
    out_3d(far, near, 1, rows, row_bytes, row_stride, 0);
}
void out_1d(void *far, const void *near, uint32_t bytes) { out_3d(far, near, 1, 1, bytes, 0, 0); }

#define BLOCKING_1D(name, a, b) \
    void blocking_##name(a, b, uint32_t n) { name(first, second, n); copy_wait(); }
#define BLOCKING_2D(name, a, b) \
    void blocking_##name(a, b, uint32_t r, uint32_t n, uint32_t s) { name(first, second, r, n, s); copy_wait(); }
#define BLOCKING_3D(name, a, b) \
    void blocking_##name(a, b, uint32_t p, uint32_t r, uint32_t n, uint32_t s, uint32_t t) \
    { name(first, second, p, r, n, s, t); copy_wait(); }
BLOCKING_1D(in_1d, void *first, const void *second)
BLOCKING_2D(in_2d, void *first, const void *second)
BLOCKING_3D(in_3d, void *first, const void *second)
BLOCKING_1D(out_1d, void *first, const void *second)
BLOCKING_2D(out_2d, void *first, const void *second)
BLOCKING_3D(out_3d, void *first, const void *second)

/* ---- store ------------------------------------------------------------------------------------------------------- */

static const uint8_t *stored;
static uint32_t stored_bytes;

void store_copy(void *home, uint32_t address, uint32_t bytes)
{
    if (address < STORE_BASE || address - STORE_BASE > stored_bytes || bytes > stored_bytes - (address - STORE_BASE)) {
        fault("a copy from outside of the store");
    }
    put(&store_copies, home, stored + (address - STORE_BASE), bytes);
}
void store_wait(void) { perform(&store_copies); }

uint32_t fake_load_store(const uint8_t *data, uint32_t bytes)
{
    stored = data;
    stored_bytes = bytes;
    return STORE_BASE;
}

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

typedef void (*kernel_t)(const void *context);
int fake_unit_early;
static _Thread_local struct {
    kernel_t kernel;
    const void *context;
    size_t size;
    unsigned char before[512];
} running;

static void launch(kernel_t kernel, const void *context, size_t size)
{
    if (running.kernel != NULL) {
        fault("a kernel is launched while another one runs");
    }
    running.kernel = kernel;
    running.context = context;
    running.size = size;
    memcpy(running.before, context, size);
    if (fake_unit_early) {
        kernel(context);
    }
}

void kernel_wait(void)
{
    if (running.kernel == NULL) {
        fault("no kernel to wait for");
    }
    if (memcmp(running.before, running.context, running.size) != 0) {
        fault("the context of a running kernel has changed");
    }
    if (!fake_unit_early) {
        running.kernel(running.context);
    }
    running.kernel = NULL;
}

#define KERNEL(kind) \
    static void kind##_of(const void *context) { kind##_run(context); } \
    void kind##_launch(const match_##kind##_t *tile) { launch(kind##_of, tile, sizeof *tile); }
KERNEL(add)
KERNEL(conv2d)
KERNEL(packed)
KERNEL(permute)
KERNEL(sum2d)

/* The window must be that of the tile. */
static void check_window(uint32_t before, uint32_t size, uint32_t after, uint32_t steps, int32_t stride, uint32_t kernel)
{
    if (before + size + after != (steps - 1u) * (uint32_t)stride + kernel) {
        fault("window and tile do not correspond");
    }
}
#define CHECK_WINDOWS(t) \
    check_window(t->input_y_pad_before, t->input_y, t->input_y_pad_after, t->oy, t->stride_y, t->fy); \
    check_window(t->input_x_pad_before, t->input_x, t->input_x_pad_after, t->ox, t->stride_x, t->fx)

static uint8_t clip(int64_t v) { return (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v); }

void add_run(const match_add_t *t)
{
    const uint8_t *a = t->input_a, *b = t->input_b;
    uint8_t *out = t->output;
    for (uint32_t i = 0; i < t->y * t->x * t->c; i++) {
        out[i] = clip(((int64_t)a[i] * t->multiplier_a + (int64_t)b[i] * t->multiplier_b + t->addend) >> t->shift);
    }
}

void conv2d_run(const match_conv2d_t *t)
{
    const uint8_t *in = t->input;
    const int8_t *w = t->weight;
    uint8_t *out = t->output;
    const int32_t *m = t->multiplier, *a = t->addend;
    CHECK_WINDOWS(t);
    for (uint32_t y = 0; y < t->oy; y++) for (uint32_t x = 0; x < t->ox; x++) for (uint32_t k = 0; k < t->k; k++) {
        int64_t sum = 0;
        for (uint32_t fy = 0; fy < t->fy; fy++) for (uint32_t fx = 0; fx < t->fx; fx++) {
            const int64_t iy = (int64_t)y * t->stride_y + fy - t->input_y_pad_before;
            const int64_t ix = (int64_t)x * t->stride_x + fx - t->input_x_pad_before;
            const int inside = iy >= 0 && ix >= 0 && iy < t->input_y && ix < t->input_x;
            for (uint32_t c = 0; c < t->c; c++) {
                const int32_t v = inside ? in[((uint32_t)iy * t->input_x + (uint32_t)ix) * t->c + c] : t->pad_value;
                sum += v * w[((k * t->fy + fy) * t->fx + fx) * t->c + c];
            }
        }
        out[(y * t->ox + x) * t->k + k] = clip((sum * m[k] + a[k]) >> t->shift);
    }
}

/* Sums of products that several calls add up in the output: the first begins with the addend, the last turns bits. */
void sum2d_run(const match_sum2d_t *t)
{
    const uint8_t *in = t->input;
    const int8_t *w = t->weight;
    const int32_t *addend = t->addend;
    int32_t *out = t->output;
    CHECK_WINDOWS(t);
    for (uint32_t y = 0; y < t->oy; y++) for (uint32_t x = 0; x < t->ox; x++) for (uint32_t k = 0; k < t->k; k++) {
        int32_t *const sum = &out[(y * t->ox + x) * t->k + k];
        if (t->first) {
            *sum = addend[k];
        }
        for (uint32_t fy = 0; fy < t->fy; fy++) for (uint32_t fx = 0; fx < t->fx; fx++) {
            const int64_t iy = (int64_t)y * t->stride_y + fy - t->input_y_pad_before;
            const int64_t ix = (int64_t)x * t->stride_x + fx - t->input_x_pad_before;
            if (iy < 0 || ix < 0 || iy >= t->input_y || ix >= t->input_x) {
                continue;
            }
            for (uint32_t c = 0; c < t->c; c++) {
                *sum += in[((uint32_t)iy * t->input_x + (uint32_t)ix) * t->c + c] *
                        w[((k * t->fy + fy) * t->fx + fx) * t->c + c];
            }
        }
        if (t->last) {
            *sum ^= 0x5A5A5A5A;
        }
    }
}

/* output[b][a][c][e][d] = input[a][b][c][d][e] ^ 0x3C */
void permute_run(const match_permute_t *t)
{
    const uint8_t *in = t->input;
    uint8_t *out = t->output;
    for (uint32_t a = 0; a < t->a; a++) for (uint32_t b = 0; b < t->b; b++) for (uint32_t c = 0; c < t->c; c++) {
        for (uint32_t d = 0; d < t->d; d++) for (uint32_t e = 0; e < t->e; e++) {
            out[(((b * t->a + a) * t->c + c) * t->e + e) * t->d + d] =
                in[(((a * t->b + b) * t->c + c) * t->d + d) * t->e + e] ^ 0x3C;
        }
    }
}

/* Weights of 4 bits, two in a byte, rows of inputs in groups of 8. */
void packed_run(const match_packed_t *t)
{
    const uint8_t *in = t->input, *w = t->weight;
    uint8_t *out = t->output;
    const uint32_t row_bytes = (t->c + 7u) / 8u * 4u;
    for (uint32_t n = 0; n < t->n; n++) for (uint32_t k = 0; k < t->k; k++) {
        uint32_t sum = 0;
        for (uint32_t c = 0; c < t->c; c++) {
            sum += (uint32_t)in[n * t->c + c] * ((uint32_t)(w[k * row_bytes + c / 2] >> (c % 2 * 4)) & 15u);
        }
        out[n * t->k + k] = (uint8_t)sum;
    }
}

/* ---- running ------------------------------------------------------------------------------------------------------ */

int fake_starts, fake_failing_start;

int fake_start(void)
{
    fake_starts += (fake_failing_start == 0) ? 1 : 0;
    return fake_failing_start;
}

void fake_stop(void) { fake_starts--; }
int fake_call(void (*entry)(void *argument), void *argument)
{
    entry(argument);
    if (copies.count != 0 || store_copies.count != 0 || running.kernel != NULL) {
        fault("the layer returned before all was done");
    }
    return 0;
}

static uint8_t *memory(uint32_t bytes)
{
    uint8_t *const block = malloc(bytes > 0u ? bytes : 1u);
    if (block == NULL) {
        fault("no memory");
    }
    memset(block, POISON, bytes);
    return block;
}

void run_case(const case_t *one)
{
    uint8_t *const near = memory(one->near_bytes), *const own = memory(one->private_bytes);
    uint8_t *const scratch = memory(one->scratch_bytes);
    uint8_t *const private_near[] = {own};
    void *const out[] = {one->output};
    match_task_t task = {.near = near, .private_near = private_near, .in = one->in, .out = out, .scratch = scratch,
                         .store = STORE_BASE};
    (void)fake_load_store(one->stored, one->stored_bytes);
    (void)fake_call(one->layer, &task);
    for (uint32_t i = 0; i < one->output_bytes; i++) {
        printf("%02x", ((const uint8_t *)one->output)[i]);
    }
    printf("\n");
    free(near);
    free(own);
    free(scratch);
}
