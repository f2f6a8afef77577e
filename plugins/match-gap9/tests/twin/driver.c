/* driver.c - runs a script of twin calls for the tests. The script is read from standard input, one command per line;
 * everything between start and end of the program runs as a cluster task. Addresses are offsets into L1 ("l1" in the
 * commands) or into a static block that plays L2; -1 is NULL.
 *
 *   write l1|l2 OFFSET HEX      dump l1|l2 OFFSET SIZE -> one line of hex
 *   mode eager|lazy             reset                      clocks -> host control cluster ne16 dma_in
 *                                                                  dma_out l3
 *   now CLOCK -> cycles         deferred -> count          profile begin|end|cycles NODE
 *   call NAME INT...            a kernel on 8 cores        cost NAME INT... -> cycles
 *   offload NAME INT...         the same, not waited for   join                      waits for it
 *   dma SLOT in|out EXT LOC SIZE STRIDE LENGTH MERGE       LENGTH 0: a 1-D command; MERGE may be missing
 *   config CORES                the team of offloads        l3 open, l3 load OFFSET SIZE -> address in the external RAM
 *   l3 read SLOT ADDRESS OFFSET SIZE                        l3 wait SLOT
 *   wait SLOT                   flush                      host wait SLOT, host pass: outside of the cluster
 *   ne16 ...                    see ne16_layer()
 * SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gap9_twin.h"
#include "match_gap9_kernels.h"
#include "match_gap9_ne16_stride2.h"
#include "ne16_setters.h"
#include "pmsis.h"
#include "pulp_nn_kernels.h"
#include "pulp_nnx_ne16.h"

#define L2_BYTES (512u * 1024u)
#define MAX_INTS 48
#define SLOTS 32

static uint8_t l2[L2_BYTES];
static const uint8_t constant_l2[16] = {1, 2, 3};
static pi_cl_dma_copy_t slots[SLOTS];
static pi_cl_ram_req_t requests[SLOTS];
static struct pi_device ram;
static struct pi_default_ram_conf ram_conf;
static char *line;
static size_t line_room;

static long long ints[MAX_INTS];
static int int_count;

static void fail(const char *what) {
  (void)fprintf(stderr, "driver: %s in: %s\n", what, line);
  exit(2);
}

static void read_ints(char *text) {
  int_count = 0;
  for (char *word = strtok(text, " \n"); word != NULL; word = strtok(NULL, " \n")) {
    if (int_count == MAX_INTS) {
      fail("too many numbers");
    }
    ints[int_count++] = strtoll(word, NULL, 0);
  }
}

static void *l1_at(long long offset) { return offset < 0 ? NULL : (void *)&match_gap9_l1[offset]; }

static uint32_t address(const void *pointer) { return (uint32_t)(uintptr_t)pointer; }

/* ---- kernels --------------------------------------------------------------------------------------------- */

#define P(i) l1_at(ints[i])
#define N(i) ((uint16_t)ints[i])

#define CONV_ARGUMENTS                                                                                                \
  P(0), P(1), P(2), P(3), P(4), P(5), P(6), N(7), N(8), N(9), N(10), N(11), N(12), N(13), N(14), N(15), N(16), N(17), \
      N(18), N(19), N(20), N(21), N(22), (int)ints[23], (int)ints[24]
#define DEPTHWISE_ARGUMENTS                                                                                           \
  P(0), P(1), P(2), P(3), P(4), P(5), P(6), P(7), N(8), N(9), N(10), N(11), N(12), N(13), N(14), N(15), N(16), N(17), \
      N(18), N(19), N(20), N(21), N(22), N(23), (int8_t)ints[24], (int8_t)ints[25]

static void k_conv_Ho(void *a) { (void)a, pulp_nn_conv_Ho_parallel(CONV_ARGUMENTS); }
static void k_pointwise_Ho(void *a) { (void)a, pulp_nn_pointwise_Ho_parallel(CONV_ARGUMENTS); }
static void k_depthwise_generic(void *a) { (void)a, pulp_nn_depthwise_generic(DEPTHWISE_ARGUMENTS); }
static void k_depthwise_less_4(void *a) { (void)a, pulp_nn_depthwise_generic_less_4_weights(DEPTHWISE_ARGUMENTS); }
static void k_linear(void *a) {
  (void)a;
  pulp_nn_linear(P(0), P(1), P(2), P(3), P(4), P(5), N(6), (int8_t)ints[7], N(8), N(9), (int)ints[10], (int)ints[11]);
}
static void k_own_add(void *a) {
  (void)a;
  match_gap9_add_requant(P(0), P(1), P(2), (int32_t)ints[3], (int32_t)ints[4], (int32_t)ints[5], (uint32_t)ints[6],
                         (uint32_t)ints[7]);
}
static void k_own_transpose(void *a) {
  const match_gap9_planes_t planes = {.in_y = N(2), .in_x = N(3), .channels = N(4), .pad_top = N(5), .pad_bottom = N(6),
                                      .pad_left = N(7), .pad_right = N(8), .pad_value = (uint8_t)ints[9]};
  (void)a;
  match_gap9_hwc_to_chw(P(0), P(1), &planes);
}
static match_gap9_pool_t pool_of(int first) {
  return (match_gap9_pool_t){.in_x = N(first), .in_y = N(first + 1), .channels = N(first + 2), .out_x = N(first + 3),
                             .out_y = N(first + 4), .kernel_x = N(first + 5), .kernel_y = N(first + 6),
                             .pad_top = N(first + 7), .pad_left = N(first + 8), .stride_x = N(first + 9),
                             .stride_y = N(first + 10), .pad_value = (uint8_t)ints[first + 11]};
}
static void k_own_avgpool(void *a) {
  const match_gap9_pool_t pool = pool_of(2);
  (void)a;
  match_gap9_avgpool_requant(P(0), P(1), &pool, (int32_t)ints[14], (int32_t)ints[15], (uint32_t)ints[16]);
}
static void k_own_maxpool(void *a) {
  const match_gap9_pool_t pool = pool_of(2);
  (void)a;
  match_gap9_maxpool(P(0), P(1), &pool);
}
/* Cores write their id, wait, then read their neighbour's: wrong without a working barrier. */
static void k_barrier(void *a) {
  uint8_t *ids = P(0);
  const int core = pi_core_id();
  (void)a;
  ids[core] = (uint8_t)(core + 1);
  if (ints[1] != 0) {
    pi_cl_team_barrier();
  }
  ids[8 + core] = ids[(core + 1) % pi_cl_team_nb_cores()];
}
static void k_lost_core(void *a) {
  (void)a;
  if (pi_core_id() != 3) {
    pi_cl_team_barrier(0);
  }
}

static const struct {
  const char *name;
  void (*entry)(void *);
} kernels[] = {{"conv_Ho", k_conv_Ho}, {"pointwise_Ho", k_pointwise_Ho}, {"depthwise_generic", k_depthwise_generic},
               {"depthwise_less_4", k_depthwise_less_4}, {"linear", k_linear}, {"own_add", k_own_add}, 
               {"own_transpose", k_own_transpose}, {"own_avgpool", k_own_avgpool}, {"own_maxpool", k_own_maxpool},
               {"barrier", k_barrier}, {"lost_core", k_lost_core}};

static void (*kernel_named(const char *name))(void *) {
  for (size_t i = 0u; i < sizeof kernels / sizeof kernels[0]; i++) {
    if (strcmp(kernels[i].name, name) == 0) {
      return kernels[i].entry;
    }
  }
  fail("unknown kernel");
  return NULL;
}

/* ---- cost formulas ---------------------------------------------------------------------------------------- */

static uint64_t cost(const char *name) {
  const uint32_t *n = (uint32_t[]){(uint32_t)ints[0], (uint32_t)ints[1], (uint32_t)ints[2], (uint32_t)ints[3],
                                   (uint32_t)ints[4], (uint32_t)ints[5], (uint32_t)ints[6]};
  const gap9_conv_shape_t shape = {n[0], n[1], n[2], n[3], n[4], n[5]};
  if (strcmp(name, "conv") == 0) {
    return gap9_cost_conv(&shape);
  } else if (strcmp(name, "pointwise") == 0) {
    return gap9_cost_pointwise(&shape);
  } else if (strcmp(name, "depthwise") == 0) {
    return gap9_cost_depthwise(&shape, n[6]);
  } else if (strcmp(name, "linear") == 0) {
    return gap9_cost_linear(n[0], n[1]);
  } else if (strcmp(name, "dma") == 0) {
    return gap9_cost_dma(n[0], n[1], n[2] != 0u, n[3] != 0u, n[4]);
  }
  fail("unknown cost");
  return 0u;
}

/* ---- NE16 ------------------------------------------------------------------------------------------------- */

/* A layer through the driver. Numbers: kernel, depthwise, stride, weight bits, out bits, scale bits (0: none), bias,
 * per-channel shift, shift, relu, weight offset | in, weights, out, scale, shift, bias offsets | h_in, w_in, k_in,
 * h_out, w_out, k_out | pads top, bottom, left, right, value | masks top, bottom, left, right | flags: 1 exact pad
 * value, 2 do not resolve, 4 do not poll: check once. */
static ne16_task_t task;

static void ne16_layer(void) {
  const ne16_dev_t *dev = ne16_pulp_get_dev();
  const uint8_t kernel = (uint8_t)ints[0], depthwise = (uint8_t)ints[1], stride = (uint8_t)ints[2];
  const uint8_t top = (uint8_t)ints[23], bottom = (uint8_t)ints[24], left = (uint8_t)ints[25], right = (uint8_t)ints[26];
  const uint32_t h_in = (uint32_t)ints[17], w_in = (uint32_t)ints[18], k_in = (uint32_t)ints[19];
  const uint32_t h_out = (uint32_t)ints[20], w_out = (uint32_t)ints[21], k_out = (uint32_t)ints[22];
  const uint32_t out_pixel = k_out * (uint32_t)ints[4] / 8u, flags = (uint32_t)ints[32];
  ne16_task_init(&task);
  ne16_task_set_op_to_conv(&task, kernel, depthwise, stride);
  ne16_task_set_bits(&task, 8, (uint8_t)ints[4], (uint8_t)ints[3]);
  if (ints[5] != 0) {
    const ne16_norm_mode_e modes[] = {normMode8Bit, normMode16Bit, normMode32Bit, normMode32Bit};
    ne16_task_set_norm_quant(
        &task,
        (ne16_quant_t){.shift_amount = (uint8_t)ints[8],
                       .function = ints[9] != 0 ? quantFunctionRelu : quantFunctionIdentity,
                       .flag_rounding = ne16TaskFlagFalse},
        (ne16_norm_t){.mode = modes[ints[5] / 16], .flag_bias = ints[6] != 0 ? ne16TaskFlagTrue : ne16TaskFlagFalse,
                      .flag_shift = ints[7] != 0 ? ne16TaskFlagTrue : ne16TaskFlagFalse});
    ne16_task_set_addr_norm_quant(&task, address(P(14)), address(P(15)), address(P(16)));
  }
  ne16_task_set_weight_offset(&task, weightOffsetModeLayerWise, (int32_t)ints[10]);
  if (stride == 2u) {
    ne16_task_set_dims_stride2x2(&task, h_in, w_in, k_in, w_in * k_in, k_in, h_out, w_out, k_out, w_out * out_pixel,
                                 out_pixel, kernel, kernel, top, bottom, left, right);
    task.data.cfg.padding |= (uint32_t)ints[27];
  } else {
    ne16_task_set_dims(&task, w_in, k_in, w_in * k_in, k_in, h_out, w_out, k_out, w_out * out_pixel, out_pixel, top,
                       bottom, left, right);
    if ((flags & 1u) != 0u) {
      ne16_task_set_counters(&task, k_in, h_out, w_out, k_out, 0, 0);
      ne16_task_set_padding(&task, top, (uint8_t)(bottom + (3u - h_out % 3u) % 3u), left,
                            (uint8_t)(right + (3u - w_out % 3u) % 3u), (uint8_t)ints[27]);
    } else {
      ne16_task_set_padding(&task, top, bottom, left, right, (uint8_t)ints[27]);
    }
  }
  if (ints[28] != 0 || ints[29] != 0 || ints[30] != 0 || ints[31] != 0) {
    ne16_task_set_mask_filter(&task, (uint8_t)ints[28], (uint8_t)ints[29], (uint8_t)ints[30], (uint8_t)ints[31]);
  }
  ne16_task_set_addr_conv(&task, address(P(11)), w_in, k_in, top, left, address(P(13)), address(P(12)));
  ne16_nnx_dispatch_wait(dev);
  if (stride == 2u) {
    match_gap9_ne16_dispatch_stride2(&task, h_out, w_out);
  } else if (ne16_nnx_dispatch(dev, &task) != 0) {
    fail("dispatch refused");
  }
  if ((flags & 2u) == 0u) {
    ne16_nnx_resolve_wait(dev, &task);
  }
}

static void ne16_command(char *text) {
  ne16_pulp_conf_t conf = {.max_stall = 8};
  const ne16_dev_t *dev = ne16_pulp_get_dev();
  if (strncmp(text, "init", 4) == 0) {
    ne16_nnx_init(dev, &conf);
  } else if (strncmp(text, "term", 4) == 0) {
    ne16_nnx_term(dev);
  } else if (strncmp(text, "layer ", 6) == 0) {
    read_ints(text + 6);
    ne16_layer();
  } else if (strncmp(text, "resolve", 7) == 0) {
    ne16_nnx_resolve_wait(dev, &task);
  } else if (strncmp(text, "check", 5) == 0) {
    (void)printf("%d\n", ne16_nnx_resolve_check(dev, &task) != 0);
  } else if (strncmp(text, "again", 5) == 0) {
    (void)printf("%d\n", ne16_nnx_dispatch(dev, &task));
  } else if (strncmp(text, "event", 5) == 0) {
    ne16_pulp_event_wait_and_clear();
  } else if (strncmp(text, "read ", 5) == 0) {
    (void)printf("%" PRIu32 "\n", hwpe_reg_read(&dev->hwpe_dev, atoi(text + 5)));
  } else if (strncmp(text, "word ", 5) == 0) {
    read_ints(text + 5);
    ((uint32_t *)(void *)&task.data)[ints[0]] = (uint32_t)ints[1];
  } else if (strncmp(text, "words", 5) == 0) {
    for (size_t i = 0u; i < sizeof task.data / 4u; i++) {
      uint32_t word;
      memcpy(&word, (const char *)&task.data + 4u * i, 4u);
      (void)printf("%" PRIu32 " ", i < 6u && word != 0u ? word - address(match_gap9_l1) : word);
    }
    (void)printf("\n");
  } else {
    fail("unknown ne16 command");
  }
}

/* ---- script ----------------------------------------------------------------------------------------------- */

static uint8_t *block(const char *name, long long offset) {
  return strcmp(name, "l1") == 0 ? &match_gap9_l1[offset] : &l2[offset];
}

static unsigned nibble(char c) { return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10); }

static void dma_command(char *text) {
  char direction[8];
  int slot = 0, used = 0;
  if (sscanf(text, "%d %7s %n", &slot, direction, &used) != 2) {
    fail("bad dma");
  }
  read_ints(text + used);
  const pi_cl_dma_dir_e dir = strcmp(direction, "in") == 0 ? PI_CL_DMA_DIR_EXT2LOC : PI_CL_DMA_DIR_LOC2EXT;
  const uint32_t ext = ints[0] == -2   ? address(match_gap9_l1)
                       : ints[0] == -3 ? address(constant_l2)
                       : ints[0] == -4 ? 64u
                                       : address(&l2[ints[0]]);
  const uint32_t loc = address(match_gap9_l1) + (uint32_t)ints[1];
  slots[slot].ext = ext;
  slots[slot].loc = loc;
  slots[slot].size = (uint16_t)ints[2];
  slots[slot].dir = dir;
  slots[slot].merge = (uint8_t)(int_count > 5 ? ints[5] : 0);
  slots[slot].stride = (uint32_t)ints[3];
  slots[slot].length = (uint32_t)ints[4];
  (ints[4] == 0 ? pi_cl_dma_memcpy : pi_cl_dma_memcpy_2d)(&slots[slot]);
}

static void l3_command(char *text) {
  char what[8];
  int used = 0;
  uint32_t place = 0u;
  if (sscanf(text, "%7s %n", what, &used) != 1) {
    fail("bad l3");
  }
  read_ints(text + used);
  if (strcmp(what, "open") == 0) {
    pi_default_ram_conf_init(&ram_conf);
    pi_open_from_conf(&ram, &ram_conf);
    (void)pi_ram_open(&ram);
  } else if (strcmp(what, "load") == 0) {
    const int status = pi_ram_alloc(&ram, &place, (uint32_t)ints[1]);
    if (status == 0) {
      pi_ram_write(&ram, place, &l2[ints[0]], (uint32_t)ints[1]);
    }
    (void)printf("%d\n", status == 0 ? (int)place : status);
  } else if (strcmp(what, "read") == 0) {
    void *to = ints[2] < 0 ? (void *)match_gap9_l1 : (void *)&l2[ints[2]];
    pi_cl_ram_read(&ram, (uint32_t)ints[1], to, (uint32_t)ints[3], &requests[ints[0]]);
  } else {
    pi_cl_ram_read_wait(&requests[ints[0]]);
  }
}

static long long kept[MAX_INTS]; /* of the offloaded kernel: it reads its numbers when it runs */

static void offload(const char *name) {
  memcpy(kept, ints, sizeof kept);
  pi_team_offload_preset(kernel_named(name), NULL);
}

static void join(void) {
  memcpy(ints, kept, sizeof kept);
  pi_team_offload_wait();
}

static void clocks(void) {
  const unsigned order[] = {MATCH_TWIN_CLOCK_HOST,   MATCH_TWIN_CLOCK_CONTROL, MATCH_TWIN_CLOCK_CLUSTER,
                            MATCH_TWIN_CLOCK_NE16,   MATCH_TWIN_CLOCK_DMA_IN,  MATCH_TWIN_CLOCK_DMA_OUT,
                            MATCH_TWIN_CLOCK_L3};
  for (size_t i = 0u; i < sizeof order / sizeof order[0]; i++) {
    (void)printf("%" PRIu64 " ", match_twin_now(order[i]));
  }
  (void)printf("\n");
}

static void memory_command(const char *command, char *text) {
  char name[8];
  long long offset = 0;
  int used = 0;
  if (sscanf(text, "%7s %lld %n", name, &offset, &used) != 2) {
    fail("bad memory command");
  }
  uint8_t *data = block(name, offset);
  if (strcmp(command, "write") == 0) {
    for (const char *hex = text + used; *hex != '\n' && *hex != '\0'; hex += 2) {
      *data++ = (uint8_t)(nibble(hex[0]) << 4 | nibble(hex[1]));
    }
    return;
  }
  for (long i = 0, size = atol(text + used); i < size; i++) {
    (void)printf("%02x", data[i]);
  }
  (void)printf("\n");
}

static void profile_command(const char *text) {
  char what[8];
  unsigned node = 0u;
  if (sscanf(text, "%7s %u", what, &node) != 2) {
    fail("bad profile");
  }
  if (strcmp(what, "begin") == 0) {
    match_profile_begin(node);
  } else if (strcmp(what, "end") == 0) {
    match_profile_end(node);
  } else {
    (void)printf("%" PRIu64 "\n", match_profile_cycles(node));
  }
}

static void execute(const char *command, char *rest) {
  char name[32];
  int used = 0;
  if (strcmp(command, "write") == 0 || strcmp(command, "dump") == 0) {
    memory_command(command, rest);
  } else if (strcmp(command, "mode") == 0) {
    match_twin_set_mode(strncmp(rest, "lazy", 4) == 0 ? MATCH_TWIN_LAZY : MATCH_TWIN_EAGER);
  } else if (strcmp(command, "reset") == 0) {
    match_twin_reset();
  } else if (strcmp(command, "clocks") == 0) {
    clocks();
  } else if (strcmp(command, "deferred") == 0) {
    (void)printf("%zu\n", match_twin_deferred());
  } else if (strcmp(command, "spend") == 0) {
    read_ints(rest);
    match_twin_spend((unsigned)ints[0], (uint64_t)ints[1]);
  } else if (strcmp(command, "busy") == 0) {
    (void)printf("%" PRIu64 "\n", match_twin_busy((unsigned)atoi(rest)));
  } else if (strcmp(command, "profile") == 0) {
    profile_command(rest);
  } else if (strcmp(command, "events") == 0) {
    match_twin_write_events(stdout);
  } else if (strcmp(command, "summary") == 0) {
    match_twin_write_summary(stdout);
  } else if (strcmp(command, "dma") == 0) {
    dma_command(rest);
  } else if (strcmp(command, "wait") == 0) {
    pi_cl_dma_wait(&slots[atoi(rest)]);
  } else if (strcmp(command, "l3") == 0) {
    l3_command(rest);
  } else if (strcmp(command, "config") == 0) {
    pi_team_config_offload(atoi(rest));
  } else if (strcmp(command, "join") == 0) {
    join();
  } else if (strcmp(command, "flush") == 0) {
    pi_cl_dma_flush();
  } else if (strcmp(command, "ne16") == 0) {
    ne16_command(rest);
  } else if (strcmp(command, "perf") == 0) {
    pi_perf_conf(1u << PI_PERF_CYCLES);
    pi_perf_reset();
    pi_perf_start();
  } else if (strcmp(command, "perfread") == 0) {
    pi_perf_stop();
    (void)printf("%u\n", pi_perf_read(PI_PERF_CYCLES));
  } else if (strcmp(command, "cores") == 0) {
    (void)printf("%d\n", pi_core_id());
  } else if (sscanf(rest, "%31s %n", name, &used) == 1 && strcmp(command, "call") == 0) {
    read_ints(rest + used);
    pi_cl_team_fork(8, kernel_named(name), NULL);
  } else if (strcmp(command, "offload") == 0) {
    read_ints(rest + used);
    offload(name);
  } else if (strcmp(command, "team4") == 0) {
    read_ints(rest + used);
    pi_cl_team_fork(4, kernel_named(name), NULL);
  } else if (strcmp(command, "cost") == 0) {
    read_ints(rest + used);
    (void)printf("%" PRIu64 "\n", cost(name));
  } else if (strcmp(command, "costne16") == 0) {
    read_ints(rest);
    const gap9_ne16_job_t job = {
        .mode = (gap9_ne16_mode_t)ints[0], .tiles_ko = (uint32_t)ints[1], .tiles_ki = (uint32_t)ints[2],
        .tiles_ho = (uint32_t)ints[3], .tiles_wo = (uint32_t)ints[4], .rem_ko = (uint32_t)ints[5],
        .rem_ki = (uint32_t)ints[6], .rem_ho = (uint32_t)ints[7], .rem_wo = (uint32_t)ints[8],
        .rem_hi = (uint32_t)ints[9], .rem_wi = (uint32_t)ints[10], .weight_bits = (uint32_t)ints[11],
        .scale_bits = (uint32_t)ints[12], .out_bits = (uint32_t)ints[13], .bias = ints[14] != 0, .shift = ints[15] != 0};
    (void)printf("%" PRIu64 "\n", gap9_cost_ne16(&job));
  } else {
    fail("unknown command");
  }
}

static void interpret(void *argument) {
  char command[16];
  (void)argument;
  while (getline(&line, &line_room, stdin) > 0) {
    int used = 0;
    if (sscanf(line, "%15s %n", command, &used) == 1) {
      execute(command, line + used);
    }
  }
}

int main(int argc, char **argv) {
  struct pi_device cluster = {0};
  struct pi_cluster_conf conf;
  struct pi_cluster_task cluster_task;
  pi_cluster_conf_init(&conf);
  pi_open_from_conf(&cluster, &conf);
  if (argc > 1 && strcmp(argv[1], "closed") == 0) {
    return pi_cluster_send_task_to_cl(&cluster, pi_cluster_task(&cluster_task, interpret, NULL));
  }
  if (pi_cluster_open(&cluster) != 0) {
    return 1;
  }
  if (argc > 1 && strcmp(argv[1], "host-dma") == 0) {
    pi_cl_dma_copy_t copy = {.ext = address(l2), .loc = address(match_gap9_l1), .size = 16, .dir = PI_CL_DMA_DIR_EXT2LOC};
    pi_cl_dma_memcpy(&copy);
  }
  if (argc > 1 && strcmp(argv[1], "malloc") == 0) {
    char *first = pi_l1_malloc(&cluster, 100000);
    char *second = pi_cl_l1_malloc(&cluster, 40000);
    pi_l1_free(&cluster, first, 100000);
    second = second == NULL ? pi_cl_l1_malloc(&cluster, 131072) : NULL;
    (void)printf("%d %d\n", first == (char *)match_gap9_l1, second == (char *)match_gap9_l1);
    return 0;
  }
  if (argc > 1 && strcmp(argv[1], "async") == 0) {
    pi_task_t done;
    (void)pi_cluster_send_task_to_cl_async(&cluster, pi_cluster_task(&cluster_task, interpret, NULL),
                                           pi_task_block(&done));
    clocks();
    pi_task_wait_on(&done);
    clocks();
  } else if (pi_cluster_send_task_to_cl(&cluster, pi_cluster_task(&cluster_task, interpret, NULL)) != 0) {
    return 1;
  }
  free(line);
  return pi_cluster_close(&cluster);
}
