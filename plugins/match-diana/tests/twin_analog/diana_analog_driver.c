/* diana_analog_driver.c - runs commands of a script on the host of the twin: one per line, words and numbers.
 *   near, far OFFSET HEX           bytes into L1, or into L2
 *   dump_near, dump_far OFFSET BYTES   prints them as hexadecimal digits
 *   enable, boot                   what has to come before a job
 *   word INDEX VALUE               changes a word of the next layer's two instructions
 *   set OFFSET VALUE               writes a register before the next layer's trigger
 *   configure INDEX VALUE          changes a word of the next layer's configuration
 *   conv IN OUT CELLS NORM, then c k cx cy fx fy ox oy ox_unroll stride padding: the published function
 *   layer ... SKIPS PARTIAL SCALING    the same from registers, with words that the published encoder leaves alone
 *   poke OFFSET VALUE, peek OFFSET     one register
 *   copy FAR NEAR BYTES DIRECTION BANKS
 *   sync                           waits for the array
 *   clocks                         prints name, time and busy cycles of each
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diana_twin.h"
#include "dory.h"
#include "kernels.h"
#include "match_diana_twin.h"
#include "match_twin_context.h"

#define MAX_NUMBERS 20
#define MAX_CHANGES 8

typedef struct {
  long index, value;
} change_t;

typedef struct {
  change_t change[MAX_CHANGES];
  int count;
} changes_t;

static uint8_t *l1, *l2;
static changes_t words, registers, configuration;

static const void *near(long offset) { return (const void *)(uintptr_t)offset; }

static const void *far(long offset) { return offset < 0 ? NULL : l2 + offset; }

static uint32_t address(const void *data) { return (uint32_t)(uintptr_t)data; }

static Layer_parameters parameters(const long *n) {
  return (Layer_parameters){.c = (uint32_t)n[0], .k = (uint32_t)n[1], .cx = (uint32_t)n[2], .cy = (uint32_t)n[3],
                            .fx = (uint32_t)n[4], .fy = (uint32_t)n[5], .ox = (uint32_t)n[6], .oy = (uint32_t)n[7],
                            .ox_unroll = (uint32_t)n[8], .stride = (uint32_t)n[9], .padding = (uint32_t)n[10]};
}

static void conv(const long *n) {
  Layer_parameters layer = parameters(n + 4);
  (void)analog_conv_2d(NULL, near(n[0]), far(n[2]), far(n[3]), NULL, (void *)(uintptr_t)n[1], &layer);
}

static void change_words(uint16_t *halves, const long *n) {
  instruction_memory_compiled_analog[0].skips = (uint16_t)n[0];
  instruction_memory_compiled_analog[0].partial_sum_pointer = (uint16_t)(n[1] / 16);
  instruction_memory_compiled_analog[0].reg26 = (uint16_t)n[2];
  memcpy(halves, instruction_memory_compiled_analog, sizeof instruction_memory_compiled_analog);
  for (int i = 0; i < words.count; i++) {
    halves[words.change[i].index] = (uint16_t)words.change[i].value;
  }
  memcpy(instruction_memory_compiled_analog, halves, sizeof instruction_memory_compiled_analog);
  words.count = 0;
}

static void configure(void) {
  memset(configuration_register, 0, 16u * sizeof *configuration_register);
  configuration_register[0] = 0x3000000u;
  configuration_register[1] = 0x303001fu;
  for (int i = 0; i < configuration.count; i++) {
    configuration_register[configuration.change[i].index] = (uint32_t)configuration.change[i].value;
  }
  configuration.count = 0;
}

static void layer(const long *n) {
  static uint16_t halves[64];
  Layer_parameters shape = parameters(n + 4);
  configure();
  hwme_ana_memcpy_op(0u);
  hwme_ana_conf_addr_set(address(configuration_register));
  hwme_ana_conf_n_set(16u);
  analog_encoder_instruction_memory((uint32_t)n[0], 0u, (uint32_t)n[1], &shape);
  change_words(halves, n + 15);
  hwme_ana_im_addr_set(address(instruction_memory_compiled_analog));
  hwme_ana_im_n_set(32u);
  hwme_ana_wt_addr_set(address(far(n[2])));
  hwme_ana_simd_addr_set(address(far(n[3])));
  hwme_ana_act_n_set(0u);
  hwme_ana_nb_tile_set(0u);
  for (int i = 0; i < registers.count; i++) {
    const change_t change = registers.change[i];
    match_diana_twin_write(ARCHI_FC_HWPE_ANA_ADDR + (uint32_t)change.index, (uint32_t)change.value);
  }
  registers.count = 0;
  hwme_ana_trigger_job();
}

static void copy(const long *n) {
  uint8_t *const there = l2 + n[0];
  memcpy_analog((unsigned int *)(void *)there, (unsigned int)n[1], (unsigned int)n[2], (unsigned int)n[3],
                (unsigned int)n[4]);
}

static void note(changes_t *changes, const long *n) {
  if (changes->count == MAX_CHANGES) {
    match_twin_fault("too many changes");
  }
  changes->change[changes->count++] = (change_t){n[0], n[1]};
}

static void note_word(const long *n) { note(&words, n); }

static void note_register(const long *n) { note(&registers, n); }

static void note_configuration(const long *n) { note(&configuration, n); }

static void poke(const long *n) {
  match_diana_twin_write(ARCHI_FC_HWPE_ANA_ADDR + (uint32_t)n[0], (uint32_t)n[1]);
}

static void peek(const long *n) {
  printf("%08x\n", (unsigned)match_diana_twin_read(ARCHI_FC_HWPE_ANA_ADDR + (uint32_t)n[0]));
}

static void print(const uint8_t *data, long bytes) {
  for (long i = 0; i < bytes; i++) {
    printf("%02x", data[i]);
  }
  printf("\n");
}

static void dump_near(const long *n) { print(l1 + n[0], n[1]); }

static void dump_far(const long *n) { print(l2 + n[0], n[1]); }

static void enable(const long *n) {
  (void)n;
  plp_hwme_enable();
}

static void boot(const long *n) {
  (void)n;
  boot_diana();
}

static void sync(const long *n) {
  (void)n;
  global_sync_analog();
}

static void clocks(const long *n) {
  static const struct {
    const char *name;
    unsigned clock;
  } all[] = {{"host", MATCH_TWIN_CLOCK_HOST}, {"analog", MATCH_TWIN_CLOCK_ANALOG}, {"dma", MATCH_TWIN_CLOCK_DMA}};
  (void)n;
  for (size_t i = 0u; i < sizeof all / sizeof all[0]; i++) {
    printf("%s %llu %llu ", all[i].name, (unsigned long long)match_twin_now(all[i].clock),
           (unsigned long long)match_twin_busy(all[i].clock));
  }
  printf("\n");
}

static void write_bytes(uint8_t *at, const char *digits) {
  for (; digits[0] != '\0' && digits[0] != '\n'; digits += 2) {
    const char pair[3] = {digits[0], digits[1], '\0'};
    *at++ = (uint8_t)strtoul(pair, NULL, 16);
  }
}

static void obey(char *line) {
  static const struct {
    const char *name;
    void (*run)(const long *numbers);
  } commands[] = {{"word", note_word},       {"set", note_register}, {"configure", note_configuration},
                  {"conv", conv},            {"layer", layer},       {"poke", poke},
                  {"peek", peek},            {"copy", copy},         {"dump_near", dump_near},
                  {"dump_far", dump_far},    {"enable", enable},     {"boot", boot},
                  {"sync", sync},            {"clocks", clocks}};
  long numbers[MAX_NUMBERS] = {0};
  char *const name = strtok(line, " \n");
  char *at = strtok(NULL, "\n");
  if (strcmp(name, "near") == 0 || strcmp(name, "far") == 0) {
    const long offset = strtol(at, &at, 0);
    write_bytes((name[0] == 'n' ? l1 : l2) + offset, at + 1);
    return;
  }
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
  static char line[600000];
  match_twin_configure(argc > 1 ? argv[1] : "eager");
  match_twin_host_clock(MATCH_TWIN_CLOCK_HOST);
  l1 = match_diana_twin_l1(MATCH_DIANA_L1_BYTES);
  l2 = match_diana_twin_l2(MATCH_DIANA_L2_BYTES);
  while (fgets(line, sizeof line, stdin) != NULL) {
    if (line[0] != '\n') {
      obey(line);
    }
  }
  match_twin_check_quiet();
  return 0;
}
