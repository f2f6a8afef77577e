/* driver.c - runs commands of a script on the host of the twin: one per line, words and numbers.
 *   far OFFSET HEX, near OFFSET HEX              bytes into L2 (offsets from a piece of it) or L1
 *   read_far OFFSET BYTES, read_near ...         prints them as hexadecimal digits
 *   enable, sync, clocks                         clocks: prints name, time and busy cycles of each
 *   conv, depthwise, dense IN WEIGHTS OUT        and 13 numbers: the layer from c to stride
 *   sum A B OUT and the layer's numbers
 *   encode MODE IN WEIGHTS OUT and the layer's numbers: the instruction only
 *   word INDEX VALUE                             changes a word of the instructions (64 words)
 *   start CONV_WEIGHTS FC_WEIGHTS WORDS          what the library does behind encoding, with these weights
 *   copy DIRECTION FAR NEAR BYTES BANKS          memcpy_dig
 *   poke ADDRESS VALUE, peek ADDRESS             the peripheral bus; VALUE may be @OFFSET, an address in L2
 *   work CYCLES                                  of the host
 *   words, register OFFSET                       prints the instructions' 64 words, a register of the digital array
 *   where, piece BYTES                           prints the addresses of L1 and of the piece of L2, or of one more
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diana_twin.h"
#include "dory.h"
#include "kernels.h"
#include "match_twin_context.h"

#define MAX_NUMBERS 24
#define FAR_BYTES (256u * 1024u)
#define LINE_BYTES (1u << 20)

static uint8_t *near_memory, *far_memory;

/* An address of L1 as the kernel library takes it. */
static void *l1(long address) { return (void *)(uintptr_t)(uint32_t)address; }

static uint32_t far_address(long offset) { return (uint32_t)(uintptr_t)(far_memory + offset); }

static Layer_parameters layer_of(const long *n) {
  return (Layer_parameters){.c = (uint32_t)n[0],
                            .k = (uint32_t)n[1],
                            .cx = (uint32_t)n[2],
                            .cy = (uint32_t)n[3],
                            .fx = (uint32_t)n[4],
                            .fy = (uint32_t)n[5],
                            .ox = (uint32_t)n[6],
                            .oy = (uint32_t)n[7],
                            .activation_function = (uint32_t)n[8],
                            .output_shift = (uint32_t)n[9],
                            .padding = (uint32_t)n[10],
                            .dilation = (uint32_t)n[11],
                            .stride = (uint32_t)n[12]};
}

static void conv(const long *n) {
  Layer_parameters layer = layer_of(n + 3);
  (void)digital_conv_2d(NULL, l1(n[0]), far_memory + n[1], NULL, l1(n[2]), &layer);
}

static void depthwise(const long *n) {
  Layer_parameters layer = layer_of(n + 3);
  (void)digital_depthwise_conv_2d(NULL, l1(n[0]), far_memory + n[1], NULL, l1(n[2]), &layer);
}

static void dense(const long *n) {
  Layer_parameters layer = layer_of(n + 3);
  (void)digital_fully_connected(NULL, l1(n[0]), far_memory + n[1], NULL, l1(n[2]), &layer);
}

static void sum(const long *n) {
  Layer_parameters layer = layer_of(n + 3);
  (void)digital_element_wise_sum(NULL, l1(n[0]), NULL, l1(n[1]), l1(n[2]), &layer);
}

static void encode(const long *n) {
  Layer_parameters layer = layer_of(n + 4);
  digital_encoder_instruction_memory((Instruction_type)n[0], (uint32_t)n[1], (uint32_t)n[2], (uint32_t)n[3], &layer);
}

static void word(const long *n) {
  uint32_t words[64];
  const uint32_t value = (uint32_t)n[1];
  memcpy(words, instruction_memory_compiled_digital, sizeof words);
  words[n[0]] = value;
  memcpy(instruction_memory_compiled_digital, words, sizeof words);
}

static void start(const long *n) {
  const bool is_conv = instruction_memory_compiled_digital[0].mode == 1u;
  configuration_register[0] = is_conv ? 0x800u : 0u;
  configuration_register[1] = is_conv ? 0xFu : 0u;
  hwme_memcpy_op(0u);
  hwme_conf_addr_set((uint32_t)(uintptr_t)configuration_register);
  hwme_conf_n_set(16u);
  hwme_im_addr_set((uint32_t)(uintptr_t)instruction_memory_compiled_digital);
  hwme_im_n_set(64u);
  hwme_wt_conv_addr_set(far_address(n[0]));
  hwme_wt_fc_addr_set(far_address(n[1]));
  hwme_wt_conv_n_set((uint32_t)n[2]);
  hwme_wt_fc_n_set((uint32_t)n[2]);
  hwme_trigger_job();
}

static void copy(const long *n) {
  memcpy_dig((unsigned int *)(void *)(far_memory + n[1]), (unsigned int)n[2], (unsigned int)n[3], (unsigned int)n[0],
             (unsigned int)n[4]);
}

static void show(const uint8_t *from, long bytes) {
  for (long i = 0; i < bytes; i++) {
    printf("%02x", from[i]);
  }
  printf("\n");
}

static void read_far(const long *n) { show(far_memory + n[0], n[1]); }

static void read_near(const long *n) { show(near_memory + n[0], n[1]); }

static void enable(const long *n) {
  (void)n;
  plp_hwme_enable();
}

static void sync(const long *n) {
  (void)n;
  global_sync_digital();
}

static void work(const long *n) { match_twin_spend(MATCH_TWIN_CLOCK_HOST, (uint64_t)n[0]); }

static void clocks(const long *n) {
  static const char *const names[] = {"host", "digital", "analog", "dma"};
  (void)n;
  for (unsigned i = 0u; i < sizeof names / sizeof names[0]; i++) {
    printf("%s %llu %llu ", names[i], (unsigned long long)match_twin_now(i), (unsigned long long)match_twin_busy(i));
  }
  printf("\n");
}

static void peek(const long *n) { printf("%08x\n", (unsigned)match_diana_twin_read((uint32_t)n[0])); }

static void words(const long *n) {
  uint32_t word_of[64];
  (void)n;
  memcpy(word_of, instruction_memory_compiled_digital, sizeof word_of);
  for (unsigned i = 0u; i < 64u; i++) {
    printf("%u ", (unsigned)word_of[i]);
  }
  printf("\n");
}

static void show_register(const long *n) { printf("%08x\n", (unsigned)diana_register(DIANA_DIGITAL, (uint32_t)n[0])); }

static void where(const long *n) {
  (void)n;
  printf("%08x %08x\n", (unsigned)(uintptr_t)near_memory, (unsigned)(uintptr_t)far_memory);
}

static void piece(const long *n) { printf("%08x\n", (unsigned)(uintptr_t)match_diana_twin_l2((uint32_t)n[0])); }

static void write_bytes(uint8_t *memory, char *rest) {
  char *digits = rest;
  uint8_t *at = memory + strtol(rest, &digits, 0);
  for (digits++; digits[0] != '\0' && digits[0] != '\n'; digits += 2) {
    const char pair[3] = {digits[0], digits[1], '\0'};
    *at++ = (uint8_t)strtoul(pair, NULL, 16);
  }
}

static void poke(char *rest) {
  char *at = rest;
  const uint32_t address = (uint32_t)strtoul(rest, &at, 0);
  at += strspn(at, " ");
  match_diana_twin_write(address, at[0] == '@' ? far_address(strtol(at + 1, NULL, 0)) : (uint32_t)strtoul(at, NULL, 0));
}

static void obey(char *line) {
  static const struct {
    const char *name;
    void (*run)(const long *numbers);
  } commands[] = {{"conv", conv},     {"depthwise", depthwise}, {"dense", dense},         {"sum", sum},
                  {"encode", encode}, {"word", word},           {"start", start},         {"copy", copy},
                  {"read_far", read_far}, {"read_near", read_near}, {"enable", enable},
                  {"sync", sync},     {"clocks", clocks},       {"peek", peek},           {"work", work},
                  {"words", words},   {"register", show_register}, {"where", where},         {"piece", piece}};
  long numbers[MAX_NUMBERS] = {0};
  char *const name = strtok(line, " \n");
  char *const rest = strtok(NULL, "\n");
  const bool is_memory = strcmp(name, "near") == 0 || strcmp(name, "far") == 0;
  if (is_memory) {
    write_bytes(name[0] == 'n' ? near_memory : far_memory, rest);
    return;
  }
  if (strcmp(name, "poke") == 0) {
    poke(rest);
    return;
  }
  char *at = rest;
  for (int i = 0; at != NULL && *at != '\0' && i < MAX_NUMBERS; i++) {
    numbers[i] = strtol(at, &at, 0);
  }
  for (size_t i = 0u; i < sizeof commands / sizeof commands[0]; i++) {
    if (strcmp(name, commands[i].name) == 0) {
      commands[i].run(numbers);
      return;
    }
  }
  match_twin_faultf("unknown command %s", name);
}

int main(int argc, char **argv) {
  static char line[LINE_BYTES];
  match_twin_configure(argc > 1 ? argv[1] : "eager");
  match_twin_host_clock(MATCH_TWIN_CLOCK_HOST);
  near_memory = match_diana_twin_l1(MATCH_DIANA_L1_BYTES);
  far_memory = match_diana_twin_l2(FAR_BYTES);
  memset(near_memory, 0x33, MATCH_DIANA_L1_BYTES);
  while (fgets(line, sizeof line, stdin) != NULL) {
    if (line[0] != '\n') {
      obey(line);
    }
  }
  match_twin_check_quiet();
  return 0;
}
