/* driver.c - runs commands of a script on the DM core of the twin: one per line, words and numbers.
 *   write OFFSET HEX      bytes into L1
 *   dump OFFSET BYTES     prints them as hexadecimal digits
 *   linear, turned, attention, matmul: offsets of the operands and of the scratch area, then the context's numbers
 *   poke OFFSET VALUE     writes one of ITA's registers; VALUE may be @OFFSET, an address in L1
 *   peek OFFSET           prints one
 *   acquire               reads the acquire register, which must give a job
 *   wait                  until ITA is idle
 *   clocks                prints name, time and busy cycles of each
 *   in, out NEAR FAR PLANES ROWS BYTES ROW_STRIDE PLANE_STRIDE: a copy between L1 and the far memory, and the wait
 *   far OFFSET BYTES      prints bytes of the far memory; byte i holds 7 i + 3 at first
 *   team OFFSET           a kernel on all cores: core c writes c + 1, and behind a barrier the sum of all to OFFSET + 8 + c
 *   wrong WHICH           one of the copies that the DMA cannot make, or a barrier that one core never reaches
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ita_twin.h"
#include "match_ita_api.h"
#include "match_ita_job.h"
#include "match_ita_cluster.h"
#include "match_ita_hooks.h"
#include "match_ita_team.h"

#define MAX_NUMBERS 32

static uint8_t *l1;

static uint8_t *place(long offset) { return offset < 0 ? NULL : l1 + offset; }

static int32_t number(long value) { return (int32_t)value; }

static void run_linear(const long *n) {
  const match_ita_linear_t tile = {
      .input = place(n[0]), .weight = place(n[1]), .bias = place(n[2]), .output = place(n[3]), .scratch = place(n[4]),
      .s = (uint32_t)n[5], .k1 = (uint32_t)n[6], .c1 = (uint32_t)n[7], .multiplier = number(n[8]),
      .shift = number(n[9]), .add = number(n[10]), .activation = number(n[11]), .gelu_b = number(n[12]),
      .gelu_c = number(n[13]), .act_multiplier = number(n[14]), .act_shift = number(n[15]), .act_add = number(n[16]),
  };
  match_ita_linear(&tile);
}

static void run_turned(const long *n) {
  const match_ita_linear_turned_t tile = {
      .input = place(n[0]), .weight = place(n[1]), .bias = place(n[2]), .output = place(n[3]), .scratch = place(n[4]),
      .p1 = (uint32_t)n[5], .t1 = (uint32_t)n[6], .c1 = (uint32_t)n[7], .t0 = 64u, .input_t = (uint32_t)n[8],
      .multiplier = number(n[9]), .shift = number(n[10]), .add = number(n[11]),
  };
  match_ita_linear_turned(&tile);
}

static void run_attention(const long *n) {
  const match_ita_attention_t tile = {
      .q = place(n[0]), .k = place(n[1]), .vt = place(n[2]), .mask = place(n[3]), .output = place(n[4]),
      .scratch = place(n[5]), .h = (uint32_t)n[6], .s = (uint32_t)n[7], .t = (uint32_t)n[8], .t1 = (uint32_t)n[9],
      .p1 = (uint32_t)n[10], .masked = number(n[11]), .qk_multiplier = number(n[12]), .qk_shift = number(n[13]),
      .qk_add = number(n[14]), .av_multiplier = number(n[15]), .av_shift = number(n[16]), .av_add = number(n[17]),
  };
  match_ita_attention(&tile);
}

static void run_matmul(const long *n) {
  const match_ita_matmul_t tile = {
      .a = place(n[0]), .b = place(n[1]), .output = place(n[2]), .scratch = place(n[3]), .h = (uint32_t)n[4],
      .m = (uint32_t)n[5], .n1 = (uint32_t)n[6], .c1 = (uint32_t)n[7], .multiplier = number(n[8]),
      .shift = number(n[9]), .add = number(n[10]),
  };
  match_ita_matmul(&tile);
}

static uint8_t far[64 * 1024];

static void copy_in(const long *n) {
  match_ita_copy_in_3d(place(n[0]), far + n[1], (uint32_t)n[2], (uint32_t)n[3], (uint32_t)n[4], (uint32_t)n[5],
                       (uint32_t)n[6]);
  match_ita_copy_wait();
}

static void copy_out(const long *n) {
  match_ita_copy_out_3d(far + n[1], place(n[0]), (uint32_t)n[2], (uint32_t)n[3], (uint32_t)n[4], (uint32_t)n[5],
                        (uint32_t)n[6]);
  match_ita_copy_wait();
}

static void dump_far(const long *n) {
  for (long i = 0; i < n[1]; i++) {
    printf("%02x", far[n[0] + i]);
  }
  printf("\n");
}

/* Core c works for 10 (c + 1) cycles before the barrier, and for 10 (8 - c) behind it. */
static void team_core(void *argument) {
  uint8_t *const data = *(uint8_t *const *)argument;
  const uint32_t core = match_ita_core();
  uint32_t sum = 0u;
  data[core] = (uint8_t)(core + 1u);
  match_ita_charge(10u * (core + 1u));
  match_ita_barrier();
  for (uint32_t i = 0u; i < match_ita_cores(); i++) {
    sum += data[i];
  }
  data[8u + core] = (uint8_t)sum;
  match_ita_charge(10u * (match_ita_cores() - core) + ((uint64_t)100u << 32));
}

static void run_team(const long *n) {
  uint8_t *const data = place(n[0]);
  match_ita_team_launch(team_core, (const void *)&data);
  match_ita_team_wait();
}

static void lame_core(void *argument) {
  (void)argument;
  if (match_ita_core() != 5u) {
    match_ita_barrier();
  }
}

static void copy_core(void *argument) {
  (void)snrt_dma_start_1d(place(0), argument, 8u);
}

static void wrong(const long *n) {
  if (n[0] == 0) {
    (void)snrt_dma_start_1d(far, far + 64, 8u);
  } else if (n[0] == 1) {
    (void)snrt_dma_start_1d(place(0), far, 0u);
  } else if (n[0] == 2) {
    (void)snrt_dma_start_2d(far, place(0), 8u, 4u, 8u, 2u);
  } else if (n[0] == 3) {
    (void)snrt_dma_start_1d(place(0), (const void *)(uintptr_t)16u, 8u);
  } else if (n[0] == 4) {
    match_ita_team_launch(copy_core, far);
    match_ita_team_wait();
  } else if (n[0] == 7) {
    match_ita_team_launch(lame_core, far);
    match_ita_team_wait();
  } else if (n[0] == 5) {
    (void)snrt_dma_start_1d(place(MATCH_ITA_L1_BYTES - 4u), far, 8u);
  } else {
    (void)snrt_dma_start_1d(place(0), far, 8u); /* and no wait */
  }
}

static void write_bytes(long offset, const char *digits) {
  for (uint8_t *at = place(offset); digits[0] != '\0' && digits[0] != '\n'; digits += 2) {
    const char pair[3] = {digits[0], digits[1], '\0'};
    *at++ = (uint8_t)strtoul(pair, NULL, 16);
  }
}

static void dump(long offset, long bytes) {
  for (long i = 0; i < bytes; i++) {
    printf("%02x", l1[offset + i]);
  }
  printf("\n");
}

static void clocks(void) {
  static const char *const names[] = {"host", "control", "snitch", "ita", "dma_in", "dma_out"};
  for (unsigned i = 0u; i < sizeof names / sizeof names[0]; i++) {
    printf("%s %llu %llu ", names[i], (unsigned long long)match_twin_now(i), (unsigned long long)match_twin_busy(i));
  }
  printf("\n");
}

static uint32_t value_of(const char *text) {
  return text[0] == '@' ? (uint32_t)(uintptr_t)place(strtol(text + 1, NULL, 0)) : (uint32_t)strtoul(text, NULL, 0);
}

static void wait_for_ita(void) {
  while (MATCH_ITA_READ(MATCH_ITA_STATUS) != 0u) {
    MATCH_ITA_RELAX();
  }
}

static void obey(char *line) {
  static const struct {
    const char *name;
    void (*run)(const long *numbers);
  } kernels[] = {{"linear", run_linear}, {"turned", run_turned}, {"attention", run_attention},
                 {"matmul", run_matmul}, {"in", copy_in},        {"out", copy_out},
                 {"far", dump_far},      {"team", run_team},     {"wrong", wrong}};
  long numbers[MAX_NUMBERS] = {0};
  char *const word = strtok(line, " \n");
  char *const rest = strtok(NULL, "\n");
  char *at = rest;
  for (int i = 0; at != NULL && *at != '\0' && i < MAX_NUMBERS && strcmp(word, "write") != 0; i++) {
    numbers[i] = strtol(at, &at, 0);
  }
  for (size_t i = 0u; i < sizeof kernels / sizeof kernels[0]; i++) {
    if (strcmp(word, kernels[i].name) == 0) {
      kernels[i].run(numbers);
      return;
    }
  }
  if (strcmp(word, "write") == 0) {
    const long offset = strtol(rest, &at, 0);
    write_bytes(offset, at + 1);
  } else if (strcmp(word, "dump") == 0) {
    dump(numbers[0], numbers[1]);
  } else if (strcmp(word, "poke") == 0) {
    MATCH_ITA_WRITE((uint32_t)numbers[0], value_of(strchr(rest, ' ') + 1));
  } else if (strcmp(word, "peek") == 0) {
    printf("%08x\n", (unsigned)MATCH_ITA_READ((uint32_t)numbers[0]));
  } else if (strcmp(word, "acquire") == 0) {
    if ((int32_t)MATCH_ITA_READ(MATCH_ITA_ACQUIRE) < 0) {
      match_twin_fault("no job was acquired");
    }
  } else if (strcmp(word, "wait") == 0) {
    wait_for_ita();
  } else if (strcmp(word, "clocks") == 0) {
    clocks();
  } else {
    match_twin_faultf("unknown command %s", word);
  }
}

static void run_script(void *argument) {
  static char line[600000];
  FILE *const script = argument;
  while (fgets(line, sizeof line, script) != NULL) {
    if (line[0] != '\n') {
      obey(line);
    }
  }
}

int main(int argc, char **argv) {
  match_twin_configure(argc > 1 ? argv[1] : "eager");
  match_twin_host_clock(MATCH_TWIN_CLOCK_HOST);
  l1 = match_ita_twin_l1(MATCH_ITA_L1_BYTES);
  for (size_t i = 0u; i < sizeof far; i++) {
    far[i] = (uint8_t)(7u * i + 3u);
  }
  if (match_ita_start() != 0 || match_ita_call(run_script, stdin) != 0) {
    return 1;
  }
  match_ita_stop();
  match_twin_check_quiet();
  return 0;
}
