/* match_twin_defer.c - run mode and the queue of operations in flight. SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "match_twin.h"

#define ARGUMENT_SIZE 256u

typedef struct entry_s {
  struct entry_s *next;
  uint64_t ticket;
  match_twin_action_t action;
  union {
    max_align_t align;
    unsigned char bytes[ARGUMENT_SIZE];
  } argument;
} entry_t;

static struct {
  match_twin_mode_t mode;
  uint64_t last_ticket;
  entry_t *pending; /* a few entries at most: the hardware's queues are short */
  entry_t *spare;
  size_t count;
} queue;

match_twin_mode_t match_twin_mode(void) { return queue.mode; }

void match_twin_set_mode(match_twin_mode_t mode) {
  if (queue.count != 0u) {
    match_twin_fault("the run mode cannot change while operations are in flight");
  }
  queue.mode = mode;
}

uint64_t match_twin_defer(match_twin_action_t action, const void *argument, size_t argument_size) {
  if (argument_size > ARGUMENT_SIZE) {
    match_twin_faultf("a deferred argument of %zu bytes exceeds %u", argument_size, ARGUMENT_SIZE);
  }
  entry_t *entry = queue.spare;
  if (entry != NULL) {
    queue.spare = entry->next;
  } else {
    entry = malloc(sizeof *entry);
    if (entry == NULL) {
      match_twin_fault("the twin ran out of host memory");
    }
  }
  if (argument_size > 0u) {
    memcpy(entry->argument.bytes, argument, argument_size);
  }
  entry->action = action;
  entry->ticket = ++queue.last_ticket;
  entry->next = queue.pending;
  queue.pending = entry;
  queue.count++;
  const uint64_t ticket = entry->ticket;
  if (queue.mode == MATCH_TWIN_EAGER) {
    match_twin_complete(ticket);
  }
  return ticket;
}

void match_twin_complete(uint64_t ticket) {
  for (entry_t **link = &queue.pending; *link != NULL; link = &(*link)->next) {
    entry_t *entry = *link;
    if (entry->ticket == ticket) {
      /* Unlinked before it runs: an action may defer or complete others. */
      *link = entry->next;
      queue.count--;
      entry->action(entry->argument.bytes);
      entry->next = queue.spare;
      queue.spare = entry;
      return;
    }
  }
}

size_t match_twin_deferred(void) { return queue.count; }
