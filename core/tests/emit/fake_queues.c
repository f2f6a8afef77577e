/* fake_queues.c - see fake_queues.h. SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "fake_queues.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define POISON 0xA5

static void pause_for(long microseconds)
{
    const struct timespec time = {0, microseconds * 1000};
    (void)nanosleep(&time, NULL);
}

/* ---- units --------------------------------------------------------------------------------------------------------- */

typedef struct {
    int number;
    void (*loop)(void *argument);
    void *argument;
    pthread_t thread;
    int launched; /* the host's */
    atomic_int ended;
} unit_t;
static unit_t array = {.number = 1}, other = {.number = 2};
static _Thread_local int self;
static atomic_int hung_unit;
static atomic_uint hung_task;
uint32_t fake_signals;
uint32_t fake_wait_limit = 300000;

void fake_hang(int unit, uint32_t task)
{
    atomic_store(&hung_task, task);
    atomic_store(&hung_unit, unit);
}

static void *run(void *argument)
{
    unit_t *const unit = argument;
    self = unit->number;
    unit->loop(unit->argument);
    atomic_store_explicit(&unit->ended, 1, memory_order_relaxed);
    return NULL;
}

static int launch(unit_t *unit, void (*loop)(void *argument), void *argument)
{
    if (unit->launched != 0) {
        return 1;
    }
    unit->loop = loop;
    unit->argument = argument;
    unit->launched = 1;
    atomic_store(&unit->ended, 0);
    return pthread_create(&unit->thread, NULL, run, unit);
}

static int join(unit_t *unit)
{
    const int bound = (atomic_load(&hung_unit) == unit->number) ? 20 : 20000;
    for (int turn = 0; (turn < bound) && (atomic_load_explicit(&unit->ended, memory_order_relaxed) == 0); turn++) {
        pause_for(500);
    }
    if (atomic_load_explicit(&unit->ended, memory_order_relaxed) == 0) {
        return 1;
    }
    unit->launched = 0;
    return pthread_join(unit->thread, NULL);
}

int array_launch(void (*loop)(void *argument), void *argument) { return launch(&array, loop, argument); }
int other_launch(void (*loop)(void *argument), void *argument) { return launch(&other, loop, argument); }
int array_join(void) { return join(&array); }
int other_join(void) { return join(&other); }

int queues_start(void) { return 0; }
void queues_stop(void)
{
    fake_hang(0, 0);
    if (array.launched != 0) {
        (void)join(&array);
    }
    if (other.launched != 0) {
        (void)join(&other);
    }
}

int fake_queue_wait(const match_queue_t *queue, uint32_t count)
{
    while (match_load(&queue->posted) < count) {
        pause_for(20);
    }
    while ((atomic_load(&hung_unit) == self) && (atomic_load(&hung_task) == count)) {
        pause_for(200);
    }
    return match_spin(queue, count);
}

void fake_signal(void) { fake_signals++; }
void fake_notify(void) {}

int match_port_wait(void)
{
    pause_for(100);
    return 1;
}

/* ---- swaps --------------------------------------------------------------------------------------------------------- */

static uint8_t memory[FAKE_STORE_BYTES];
static struct {
    uint8_t *to;
    const uint8_t *from;
    uint32_t bytes;
    int turns;
} swap;
static int swaps_hang;
uint32_t fake_swaps;

static void begin(uint8_t *to, const uint8_t *from, uint32_t bytes)
{
    if (swap.bytes != 0u) {
        fprintf(stderr, "fault: two swaps at once\n");
        exit(3);
    }
    memset(to, POISON, bytes);
    swap.to = to;
    swap.from = from;
    swap.bytes = bytes;
    swap.turns = 3;
    fake_swaps++;
}

void swap_out(uint32_t store, const void *home, uint32_t bytes) { begin(memory + store, home, bytes); }
void swap_in(void *home, uint32_t store, uint32_t bytes) { begin(home, memory + store, bytes); }

int swap_busy(void)
{
    if ((swaps_hang != 0) || (swap.turns-- > 0)) {
        return 1;
    }
    memcpy(swap.to, swap.from, swap.bytes);
    swap.bytes = 0;
    return 0;
}

void fake_swaps_hang(int hang)
{
    swaps_hang = hang;
    swap.bytes = 0;
}
