/* common.c - start and what compilers call by themselves. SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <stdint.h>

__asm__(".section .text._start\n.globl _start\n_start: call main\n1: j 1b\n.text\n");

void *memcpy(void *to, const void *from, size_t count) {
  for (size_t i = 0u; i < count; i++) {
    ((volatile uint8_t *)to)[i] = ((const uint8_t *)from)[i];
  }
  return to;
}

void *memset(void *to, int value, size_t count) {
  for (size_t i = 0u; i < count; i++) {
    ((volatile uint8_t *)to)[i] = (uint8_t)value;
  }
  return to;
}
