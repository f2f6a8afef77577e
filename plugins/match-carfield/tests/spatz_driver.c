/* spatz_driver.c - runs the kernels of the Spatz cluster on many shapes and writes their outputs to standard output, with
 * binary32 instead of binary16. Built twice: with RISC-V vectors for an emulator, and in portable C for the host.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <stdint.h>

#include "match_carfield_half_kernels.h"
#include "snrt.h"

uint32_t test_core = 0u;

void match_carfield_spatz_team(void (*entry)(void *), const void *tile);
void match_carfield_spatz_team(void (*entry)(void *), const void *tile)
{
    for (test_core = 2u; test_core-- > 0u;) {
        entry((void *)(uintptr_t)tile);
    }
    test_core = 0u;
}

#ifdef __riscv
static void put(const void *data, size_t bytes)
{
    register long number __asm__("a7") = 64, file __asm__("a0") = 1;
    register const void *start __asm__("a1") = data;
    register size_t size __asm__("a2") = bytes;
    __asm__ volatile("ecall" : "+r"(file) : "r"(number), "r"(start), "r"(size) : "memory");
}
#else
#include <stdio.h>
static void put(const void *data, size_t bytes) { fwrite(data, 1, bytes, stdout); }
#endif

#define SIZE (1u << 15)
static float input[SIZE], weight[SIZE], mul[512], add[512], output[SIZE], scratch[SIZE];

static uint32_t state = 1u;

/* Numbers with 11 bits, so that products are exact in binary32. */
static void fill(float *target, uint32_t size)
{
    for (uint32_t i = 0u; i < size; i++) {
        state = 1664525u * state + 1013904223u;
        target[i] = (float)((int32_t)(state >> 21) - 1024) * (1.0f / 256.0f);
    }
}

static void refill(void)
{
    fill(input, SIZE);
    fill(weight, SIZE);
    fill(mul, 512u);
    fill(add, 512u);
    for (uint32_t i = 0u; i < SIZE; i++) {
        output[i] = -1.0f;
    }
}

static void windows(uint32_t channels, uint32_t outputs, int32_t stride, int32_t dilation, uint32_t pad)
{
    const uint32_t size = 9u, reach = 2u * (uint32_t)dilation + 1u;
    const uint32_t out = (size + 2u * pad - reach) / (uint32_t)stride + 1u;
    const match_half_conv2d_t conv = {
        .input = input, .weight = weight, .mul = mul, .add = add, .output = output, .oy = out, .ox = out, .k = outputs,
        .c = channels, .fy = 3u, .fx = 3u, .input_y = size, .input_x = size, .input_y_pad_before = pad,
        .input_x_pad_before = pad, .stride_y = stride, .stride_x = stride, .dilation_y = dilation,
        .dilation_x = dilation, .relu = 1,
    };
    const match_half_group2d_t group = {
        .input = input, .weight = weight, .mul = mul, .add = add, .output = output, .oy = out, .ox = out, .g = 2u,
        .kg = outputs, .cg = channels, .fy = 3u, .fx = 3u, .input_y = size, .input_x = size,
        .input_y_pad_before = pad, .input_x_pad_before = pad, .stride_y = stride, .stride_x = stride,
        .dilation_y = dilation, .dilation_x = dilation,
    };
    const match_half_depthwise2d_t depthwise = {
        .input = input, .weight = weight, .mul = mul, .add = add, .output = output, .oy = out, .ox = out, .k = outputs,
        .fy = 3u, .fx = 3u, .input_y = size, .input_x = size, .input_y_pad_before = pad, .input_x_pad_before = pad,
        .stride_y = stride, .stride_x = stride, .dilation_y = dilation, .dilation_x = dilation,
    };
    refill();
    match_carfield_spatz_conv2d(&conv);
    put(output, sizeof output);
    refill();
    match_carfield_spatz_group2d(&group);
    put(output, sizeof output);
    refill();
    match_carfield_spatz_depthwise2d(&depthwise);
    put(output, sizeof output);
    for (int32_t average = 0; average < 2; average++) {
        const uint32_t pooled = (size + 2u * pad - 3u) / (uint32_t)stride + 1u;
        const match_half_pool2d_t pool = {
            .input = input, .output = output, .oy = pooled, .ox = pooled, .c = outputs, .fy = 3u, .fx = 3u,
            .input_y = size, .input_x = size, .input_y_pad_before = pad, .input_x_pad_before = pad, .stride_y = stride,
            .stride_x = stride, .average = average, .scale_bits = 0x2F1C,
        };
        refill();
        match_carfield_spatz_pool2d(&pool);
        put(output, sizeof output);
    }
}

static void products(uint32_t m, uint32_t k, uint32_t c, int32_t transposed)
{
    const match_half_linear_t linear = {
        .input = input, .weight = weight, .mul = mul, .add = add, .output = output, .n = m, .k = k, .c = c, .relu = 1,
    };
    const match_half_matmul_t matmul = {
        .left = input, .right = weight, .output = output, .scratch = scratch, .b = 2u, .m = m, .k = k, .c = c,
        .a_between = 1, .b_transposed = transposed, .output_between = 1, .scale_bits = 0x3000,
    };
    const match_half_add_t sum = {.input_a = input, .input_b = weight, .output = output, .y = m, .x = 3u, .c = k};
    const match_half_transpose_t transpose = {.input = input, .output = output, .r = k, .c = m};
    refill();
    match_carfield_spatz_linear(&linear);
    put(output, sizeof output);
    refill();
    match_carfield_spatz_matmul(&matmul);
    put(output, sizeof output);
    refill();
    match_carfield_spatz_add(&sum);
    put(output, sizeof output);
    refill();
    match_carfield_spatz_transpose(&transpose);
    put(output, sizeof output);
}

static void all(void)
{
    windows(3u, 70u, 1, 1, 1u);
    windows(8u, 64u, 2, 1, 0u);
    windows(5u, 7u, 1, 2, 2u);
    products(1u, 200u, 33u, 0);
    products(7u, 66u, 16u, 1);
    products(16u, 64u, 64u, 1);
}

#ifdef __riscv
__attribute__((used)) void run(void) { all(); }
__attribute__((naked, used)) void _start(void) { __asm__ volatile("call run\n\tli a0, 0\n\tli a7, 93\n\tecall"); }
#else
int main(void)
{
    all();
    return 0;
}
#endif
