/* diana_digital_limits.c - what the digital array can do, and where in L1 a job reads and writes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "diana_digital.h"

size_t diana_digital_input_bytes(const diana_digital_job_t *job) {
  return job->mode == DIANA_CONV ? (size_t)job->c * job->cx * job->cy : job->c;
}

size_t diana_digital_output_bytes(const diana_digital_job_t *job) {
  if (job->mode != DIANA_CONV) {
    return job->mode == DIANA_FC ? job->k : job->c;
  }
  const uint32_t channels = job->by_channels ? (job->k + DIANA_GROUP - 1u) / DIANA_GROUP * DIANA_GROUP : job->k;
  return (size_t)channels * job->ox * job->oy;
}

uint32_t diana_digital_valid_columns(const diana_digital_job_t *job) {
  return (job->columns + 2u * job->side - job->fx) / job->stride + 1u;
}

static void check_range(uint32_t address, size_t bytes, const char *what) {
  (void)diana_l1(address, bytes, what);
  if (address % MATCH_DIANA_L1_WORD_BYTES != 0u) {
    match_twin_faultf("%s of the digital array at 0x%x: not a multiple of 16", what, (unsigned)address);
  }
}

/* `exact`: may lie on each other, but not beside. */
static void check_apart(uint32_t one, size_t one_bytes, uint32_t other, size_t other_bytes, bool exact) {
  const bool apart = one + one_bytes <= other || other + other_bytes <= one;
  if (!apart && !(exact && one == other)) {
    match_twin_faultf("the digital array reads L1 from 0x%x on, and writes there from 0x%x on", (unsigned)one,
                      (unsigned)other);
  }
}

static bool is_kernel_side(uint32_t side) { return side == 1u || side == 3u || side == 5u || side == 7u; }

static void check_conv(const diana_digital_job_t *job) {
  const uint32_t width = job->columns + 2u * job->side, height = job->cy + job->top + job->bottom;
  if (!is_kernel_side(job->fx) || !is_kernel_side(job->fy)) {
    match_twin_faultf("the digital array has no kernel of %u x %u: sides are 1, 3, 5 or 7", (unsigned)job->fy,
                      (unsigned)job->fx);
  }
  if (job->side >= job->fx || job->top >= job->fy || job->bottom >= job->fy) {
    match_twin_faultf("padding %u, %u, %u of a kernel of %u x %u: a window would lie in it alone", (unsigned)job->top,
                      (unsigned)job->bottom, (unsigned)job->side, (unsigned)job->fy, (unsigned)job->fx);
  }
  if (job->cx % DIANA_LANES != 0u || job->c == 0u || job->k == 0u) {
    match_twin_faultf("a convolution of %u channels of %u columns to %u: columns are multiples of 16", (unsigned)job->c,
                      (unsigned)job->cx, (unsigned)job->k);
  }
  if (width < job->fx || job->ox == 0u || job->ox - DIANA_LANES >= diana_digital_valid_columns(job)) {
    match_twin_faultf("%u columns of output: %u of input and padding do not reach the last 16 of them",
                      (unsigned)job->ox, (unsigned)width);
  }
  if (job->oy == 0u || (job->oy - 1u) * job->stride + job->fy > height) {
    match_twin_faultf("%u rows of output need more than %u rows of input and padding", (unsigned)job->oy,
                      (unsigned)height);
  }
}

void diana_digital_check(const diana_digital_job_t *job) {
  if (job->mode == DIANA_CONV) {
    check_conv(job);
  } else if (job->c == 0u || (job->mode == DIANA_FC && job->k == 0u)) {
    match_twin_fault("a job of the digital array with fewer than 16 channels or elements");
  }
  const size_t input_bytes = diana_digital_input_bytes(job), output_bytes = diana_digital_output_bytes(job);
  const bool sum = job->mode == DIANA_SUM;
  check_range(job->input, input_bytes, "input");
  check_range(job->output, output_bytes, "output");
  check_apart(job->input, input_bytes, job->output, output_bytes, sum);
  if (sum) {
    check_range(job->other, input_bytes, "second input");
    check_apart(job->other, input_bytes, job->output, output_bytes, true);
  }
}
