/* carfield_snitch_dma.c - the Spatz cluster's DMA through snRuntime. SPDX-License-Identifier: Apache-2.0 */
#include "carfield_twin.h"
#include "snrt.h"

static uint32_t last_id;

/* One of the two sides is this cluster's L1, the other one is not. */
static bool direction(const void *dst, size_t dst_span, const void *src, size_t src_span) {
  const bool inwards = carfield_in_l1(CARFIELD_SPATZ, dst, dst_span);
  const bool outwards = carfield_in_l1(CARFIELD_SPATZ, src, src_span);
  if (inwards == outwards) {
    match_twin_fault("a copy of the Spatz DMA must have one side in its L1 and the other one outside");
  }
  const void *outer = inwards ? src : dst;
  const size_t span = inwards ? src_span : dst_span;
  if (match_twin_host_pointer((uint32_t)(uintptr_t)outer, span, outwards) != outer) {
    match_twin_faultf("the outer side of a copy of the Spatz DMA, %zu bytes, is in no known memory or not writable",
                      span);
  }
  return inwards;
}

static snrt_dma_txid_t start(void *dst, const void *src, size_t size, size_t dst_stride, size_t src_stride,
                             size_t repeat) {
  carfield_check_core(CARFIELD_SPATZ, "snrt_dma_start");
  if (size == 0u || repeat == 0u || size > UINT32_MAX || repeat > UINT32_MAX) {
    match_twin_faultf("a copy of the Spatz DMA of %zu rows of %zu bytes", repeat, size);
  }
  if (repeat > 1u && dst_stride < size) {
    match_twin_faultf("a copy of the Spatz DMA writes rows of %zu bytes only %zu bytes apart", size, dst_stride);
  }
  carfield_copy_t copy = {dst, src, dst_stride, src_stride, (uint32_t)repeat, (uint32_t)size, false};
  copy.inwards = direction(dst, (repeat - 1u) * dst_stride + size, src, (repeat - 1u) * src_stride + size);
  const void *const outer = copy.inwards ? src : dst;
  const uint64_t data = carfield_data_cycles(outer, repeat * size, MATCH_CARFIELD_SPATZ_DMA_BYTES_PER_CYCLE);
  const uint64_t rows = repeat > 1u ? repeat * MATCH_CARFIELD_SPATZ_DMA_ROW_CYCLES : 0u;
  match_twin_spend_kind(MATCH_TWIN_CLOCK_SPATZ, MATCH_CARFIELD_SPATZ_DMA_ISSUE_CYCLES, "copy issue");
  carfield_transfer(CARFIELD_SPATZ, &copy, data + rows, ++last_id);
  return last_id;
}

snrt_dma_txid_t snrt_dma_start_1d(void *dst, const void *src, size_t size) { return start(dst, src, size, 0u, 0u, 1u); }

snrt_dma_txid_t snrt_dma_start_2d(void *dst, const void *src, size_t size, size_t dst_stride, size_t src_stride,
                                  size_t repeat) {
  return start(dst, src, size, dst_stride, src_stride, repeat);
}

/* Ids are those that were handed out; waiting again for one that is over is allowed, as on the chip. */
void snrt_dma_wait(snrt_dma_txid_t tid) {
  carfield_check_core(CARFIELD_SPATZ, "snrt_dma_wait");
  if (tid == 0u || tid > last_id) {
    match_twin_faultf("a wait for copy %u of the Spatz DMA, which was not started", (unsigned)tid);
  }
  (void)carfield_finish(CARFIELD_SPATZ, tid, MATCH_CARFIELD_SPATZ_DMA_WAIT_CYCLES);
}

void snrt_dma_wait_all(void) {
  carfield_check_core(CARFIELD_SPATZ, "snrt_dma_wait_all");
  (void)carfield_finish(CARFIELD_SPATZ, CARFIELD_ALL, MATCH_CARFIELD_SPATZ_DMA_WAIT_CYCLES);
}
