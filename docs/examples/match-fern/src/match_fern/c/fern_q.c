/* fern_q.c - interprets the binary programs of fern_q (program.py says what they are). */
#include "fern.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { QUANTISE = 1, CONV, POOL, RELU, DEQUANTISE };
enum { OP, SOURCE, TARGET, PARAMETER, IN_H, IN_W, IN_C, OUT_H, OUT_W, OUT_C, K_H, K_W, S_H, S_W, D_H, D_W, P_H, P_W };
enum { WORDS = 18, HEADER_BYTES = 16, VERSION = 1, ENDS_MAX = 8 };

typedef struct {
    const match_region_t *region;
    const void *in[ENDS_MAX]; /* of the run that was started */
    void *out[ENDS_MAX], *scratch;
    uint32_t cycles, count;
    int32_t steps[][WORDS];
} program_t;

static uint32_t word(const uint8_t *at)
{
    return at[0] | ((uint32_t)at[1] << 8) | ((uint32_t)at[2] << 16) | ((uint32_t)at[3] << 24);
}

int fern_q_load(const match_region_t *region, void **handle)
{
    const uint8_t *const code = region->code;
    if ((region->code_bytes < HEADER_BYTES) || (memcmp(code, "FERN", 4) != 0) || ((word(&code[4]) & 0xffffu) != VERSION)) {
        return 1;
    }
    const uint32_t count = word(&code[4]) >> 16;
    if (region->code_bytes != HEADER_BYTES + count * WORDS * 4u) {
        return 1;
    }
    program_t *const program = malloc(sizeof(program_t) + count * sizeof(int32_t[WORDS]));
    if (program == NULL) {
        return 1;
    }
    program->region = region;
    program->cycles = word(&code[8]);
    program->count = count;
    for (uint32_t i = 0u; i < count * WORDS; i++) {
        program->steps[i / WORDS][i % WORDS] = (int32_t)word(&code[HEADER_BYTES + 4u * i]);
    }
    *handle = program;
    return 0;
}

void fern_q_unload(void *handle)
{
    free(handle);
}

static int8_t clipped(int64_t value)
{
    return (int8_t)((value < -128) ? -128 : (value > 127) ? 127 : value);
}

/* NCHW float at the border and NHWC int8 inside; scales are powers of two, so that only rounding changes a value. */
static void quantise(const int32_t *s, const float *real, int8_t *whole)
{
    const int32_t channels = s[IN_C], pixels = s[IN_H] * s[IN_W];
    for (int32_t i = 0; i < channels * pixels; i++) {
        const float value = nearbyintf(ldexpf(real[i], -s[PARAMETER]));
        whole[(i % pixels) * channels + i / pixels] = (int8_t)fmaxf(-128.0f, fminf(127.0f, value));
    }
}

static void dequantise(const int32_t *s, const int8_t *whole, float *real)
{
    const int32_t channels = s[IN_C], pixels = s[IN_H] * s[IN_W];
    for (int32_t i = 0; i < channels * pixels; i++) {
        real[i] = ldexpf((float)whole[(i % pixels) * channels + i / pixels], s[PARAMETER]);
    }
}

/* The channels under a kernel's tap, NULL in the padding. */
static const int8_t *tap(const int32_t *s, const int8_t *x, int32_t y_h, int32_t y_w, int32_t k)
{
    const int32_t h = y_h * s[S_H] - s[P_H] + k / s[K_W] * s[D_H];
    const int32_t w = y_w * s[S_W] - s[P_W] + k % s[K_W] * s[D_W];
    return ((h < 0) || (h >= s[IN_H]) || (w < 0) || (w >= s[IN_W])) ? NULL : &x[(h * s[IN_W] + w) * s[IN_C]];
}

static void conv(const int32_t *s, const match_region_tensor_t *constants, const int8_t *x, int8_t *y)
{
    const int8_t *const weight = constants[0].data;
    const int32_t *const addend = constants[1].data, *const shift = constants[2].data;
    const int32_t taps = s[K_H] * s[K_W];
    for (int32_t i = 0; i < s[OUT_H] * s[OUT_W] * s[OUT_C]; i++) {
        const int32_t channel = i % s[OUT_C], pixel = i / s[OUT_C];
        int32_t sum = 0;
        for (int32_t k = 0; k < taps; k++) {
            const int8_t *const from = tap(s, x, pixel / s[OUT_W], pixel % s[OUT_W], k);
            for (int32_t c = 0; (from != NULL) && (c < s[IN_C]); c++) {
                sum += from[c] * weight[(channel * taps + k) * s[IN_C] + c];
            }
        }
        const int64_t total = (int64_t)sum + addend[channel], divisor = (int64_t)1 << shift[channel];
        y[i] = clipped((total >= 0) ? total / divisor : -((divisor - 1 - total) / divisor)); /* rounded down */
    }
}

static void pool(const int32_t *s, const int8_t *x, int8_t *y)
{
    for (int32_t i = 0; i < s[OUT_H] * s[OUT_W] * s[OUT_C]; i++) {
        const int32_t channel = i % s[OUT_C], pixel = i / s[OUT_C];
        y[i] = INT8_MIN;
        for (int32_t k = 0; k < s[K_H] * s[K_W]; k++) {
            const int8_t *const from = tap(s, x, pixel / s[OUT_W], pixel % s[OUT_W], k);
            y[i] = ((from != NULL) && (from[channel] > y[i])) ? from[channel] : y[i];
        }
    }
}

static int compute(const program_t *program, const void *const *in, void *const *out, void *scratch)
{
    int8_t *const inner = scratch;
    for (uint32_t i = 0u; i < program->count; i++) {
        const int32_t *const s = program->steps[i];
        const int32_t count = s[OUT_H] * s[OUT_W] * s[OUT_C];
        switch (s[OP]) {
        case QUANTISE: quantise(s, in[s[SOURCE]], &inner[s[TARGET]]); break;
        case CONV: conv(s, &program->region->constants[s[PARAMETER]], &inner[s[SOURCE]], &inner[s[TARGET]]); break;
        case POOL: pool(s, &inner[s[SOURCE]], &inner[s[TARGET]]); break;
        case RELU:
            for (int32_t j = 0; j < count; j++) {
                inner[s[TARGET] + j] = (inner[s[SOURCE] + j] > 0) ? inner[s[SOURCE] + j] : 0;
            }
            break;
        case DEQUANTISE: dequantise(s, &inner[s[SOURCE]], out[s[TARGET]]); break;
        default: return 1;
        }
    }
    return 0;
}

int fern_q_run(void *handle, const void *const *in, void *const *out, void *scratch)
{
    const program_t *const program = handle;
    const int status = compute(program, in, out, scratch);
    fern_wait(FERN_Q, program->cycles);
    return status;
}

static int compute_started(void *argument)
{
    const program_t *const program = argument;
    return compute(program, program->in, program->out, program->scratch);
}

/* The arrays of addresses do not outlive the call. */
int fern_q_start(void *handle, const void *const *in, void *const *out, void *scratch)
{
    program_t *const program = handle;
    memcpy(program->in, in, program->region->inputs_count * sizeof *in);
    memcpy(program->out, out, program->region->outputs_count * sizeof *out);
    program->scratch = scratch;
    return fern_begin(compute_started, program, program->cycles);
}
