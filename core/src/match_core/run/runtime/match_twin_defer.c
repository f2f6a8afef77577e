/* match_twin_defer.c - operations in flight, those of each thread by themselves.
 *
 * In threads mode a helper thread performs them in the order of issue, each after a random delay. Only the wait for an
 * operation orders it before what comes after. SPDX-License-Identifier: Apache-2.0 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

#include "match_twin_inner.h"

#define ARGUMENT_SIZE 256u
#define LONGEST_DELAY_MICROSECONDS 50u

typedef struct entry_s {
  struct entry_s *next;
  uint64_t ticket;
  match_twin_action_t action;
  sem_t done; /* threads mode only */
  union {
    max_align_t align;
    unsigned char bytes[ARGUMENT_SIZE];
  } argument;
} entry_t;

/* The helper's list: the issuer appends behind the newest link, the helper frees links that it has left. */
typedef struct link_s {
  struct link_s *next;
  entry_t *entry; /* NULL ends the helper */
} link_t;

typedef struct {
  uint32_t context;
  sem_t work; /* counts the links that were appended */
  link_t *newest;
} helper_t;

static _Thread_local struct {
  uint64_t last_ticket;
  entry_t *pending; /* a few entries at most: the hardware's queues are short */
  size_t count;
  helper_t *helper;
} queue;

static void *take_memory(size_t size) {
  void *memory = calloc(1u, size);
  if (memory == NULL) {
    match_twin_fault("the twin ran out of host memory");
  }
  return memory;
}

/* ---- helper thread -------------------------------------------------------------------------------------------- */

static void down(sem_t *semaphore) {
  while (sem_wait(semaphore) != 0 && errno == EINTR) {
  }
}

typedef struct {
  helper_t *helper;
  link_t *first;
} start_t;

static link_t *next_link(helper_t *helper, link_t *link) {
  down(&helper->work);
  link_t *const next = link->next;
  free(link);
  return next;
}

static void *help(void *argument) {
  const start_t start = *(start_t *)argument;
  link_t *link = start.first;
  free(argument);
  match_twin_adopt(start.helper->context);
  for (link = next_link(start.helper, link); link->entry != NULL; link = next_link(start.helper, link)) {
    match_twin_nap(LONGEST_DELAY_MICROSECONDS);
    link->entry->action(link->entry->argument.bytes);
    (void)sem_post(&link->entry->done);
  }
  free(link);
  (void)sem_destroy(&start.helper->work);
  free(start.helper);
  match_twin_end_helper();
  return NULL;
}

static void start_helper(void) {
  pthread_t thread;
  start_t *start = take_memory(sizeof *start);
  queue.helper = take_memory(sizeof *queue.helper);
  queue.helper->context = match_twin_context();
  queue.helper->newest = take_memory(sizeof *queue.helper->newest);
  *start = (start_t){queue.helper, queue.helper->newest};
  (void)sem_init(&queue.helper->work, 0, 0u);
  if (pthread_create(&thread, NULL, help, start) != 0 || pthread_detach(thread) != 0) {
    match_twin_fault("the thread of asynchronous operations cannot be started");
  }
}

static void append(entry_t *entry) {
  link_t *link = take_memory(sizeof *link);
  link->entry = entry;
  queue.helper->newest->next = link;
  queue.helper->newest = link;
  (void)sem_post(&queue.helper->work);
}

static void give_to_helper(entry_t *entry) {
  if (queue.helper == NULL) {
    start_helper();
  }
  (void)sem_init(&entry->done, 0, 0u);
  append(entry);
}

void match_twin_end_helper(void) {
  if (queue.helper != NULL) {
    append(NULL);
    queue.helper = NULL;
  }
}

/* ---- issue and wait ------------------------------------------------------------------------------------------- */

uint64_t match_twin_defer(match_twin_action_t action, const void *argument, size_t argument_size) {
  if (argument_size > ARGUMENT_SIZE) {
    match_twin_faultf("a deferred argument of %zu bytes exceeds %u", argument_size, ARGUMENT_SIZE);
  }
  entry_t *entry = take_memory(sizeof *entry);
  if (argument_size > 0u) {
    memcpy(entry->argument.bytes, argument, argument_size);
  }
  const uint64_t ticket = ++queue.last_ticket;
  entry->action = action;
  entry->ticket = ticket;
  entry->next = queue.pending;
  queue.pending = entry;
  queue.count++;
  if (match_twin_threads()) {
    give_to_helper(entry);
  } else if (match_twin_mode() == MATCH_TWIN_EAGER) {
    match_twin_complete(ticket);
  }
  return ticket;
}

static void finish(entry_t *entry) {
  if (match_twin_threads()) {
    down(&entry->done);
    (void)sem_destroy(&entry->done);
  } else {
    entry->action(entry->argument.bytes);
  }
  free(entry);
}

void match_twin_complete(uint64_t ticket) {
  for (entry_t **link = &queue.pending; *link != NULL; link = &(*link)->next) {
    entry_t *entry = *link;
    if (entry->ticket == ticket) {
      /* Unlinked before it runs: an action may defer or complete others. */
      *link = entry->next;
      queue.count--;
      finish(entry);
      return;
    }
  }
}

size_t match_twin_deferred(void) { return queue.count; }
