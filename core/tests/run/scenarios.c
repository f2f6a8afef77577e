/* scenarios.c - small programs on the twin's runtime, by name: MODE SCENARIO. Two units on clocks 1 and 2, a link on clock
 * 3. SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "match_runtime.h"
#include "match_twin.h"

#define BELL 5u

static match_queue_t queue[2];
static uint8_t data[2][64];
static uint32_t order[64], count;

int match_port_wait(void) { return match_twin_relax_bounded(); }

static void note(uint32_t what) { order[count++] = what; }

static void print_order(void)
{
    for (uint32_t i = 0u; i < count; i++) {
        printf("%u ", (unsigned)order[i]);
    }
    printf("\n");
}

/* ---- time ----------------------------------------------------------------------------------------------------------- */

/* Works for 10 or 25 cycles at a time and notes itself at each yield. */
static void step(void *argument)
{
    const uint32_t cycles = *(const uint32_t *)argument;
    for (uint32_t i = 0u; i < 4u; i++) {
        match_twin_spend(match_twin_context_clock(), cycles);
        match_twin_yield();
        note(cycles);
    }
}

static void in_order_of_time(void)
{
    static const uint32_t cycles[2] = {10u, 25u};
    const uint32_t slow = match_twin_start("slow", 2u, step, (void *)(uintptr_t)&cycles[1]);
    const uint32_t fast = match_twin_start("fast", 1u, step, (void *)(uintptr_t)&cycles[0]);
    match_twin_join(slow);
    match_twin_join(fast);
    print_order();
    printf("%u\n", (unsigned)match_twin_now(0u));
}

/* Both want the link: the one whose time is earlier gets it first, though it was started later. */
static void take_link(void *argument)
{
    const uint32_t before = *(const uint32_t *)argument;
    const unsigned clock = match_twin_context_clock();
    match_twin_spend(clock, before);
    match_twin_wait_until(clock, match_twin_issue(clock, 3u, 100u));
}

static void link_in_order(void)
{
    static const uint32_t before[2] = {50u, 20u};
    const uint32_t late = match_twin_start("late", 1u, take_link, (void *)(uintptr_t)&before[0]);
    const uint32_t early = match_twin_start("early", 2u, take_link, (void *)(uintptr_t)&before[1]);
    match_twin_join(late);
    match_twin_join(early);
    printf("%u %u %u\n", (unsigned)match_twin_now(1u), (unsigned)match_twin_now(2u), (unsigned)match_twin_now(0u));
}

/* ---- a producer and a consumer ---------------------------------------------------------------------------------------- */

typedef struct {
    uint32_t needs; /* tasks of the producer that the consumer waits for */
} plan_t;

static void produce(void *argument)
{
    (void)argument;
    for (uint32_t n = 0u; n < 2u; n++) {
        if (match_spin(&queue[0], n + 1u) != 0) {
            return;
        }
        match_profile_begin(n);
        match_twin_spend(1u, 100u);
        memset(data[n], (int)(n + 1u), sizeof data[n]);
        match_profile_end(n);
        match_store(&queue[0].done, n + 1u);
    }
}

/* Adds up both blocks that the producer made. */
static void consume(void *argument)
{
    if (match_spin(&queue[1], 1u) != 0) {
        return;
    }
    match_profile_begin(2u);
    uint32_t sum = 0u;
    for (uint32_t i = 0u; i < sizeof data[0]; i++) {
        sum += (uint32_t)data[0][i] + data[1][i];
    }
    match_twin_spend(2u, 30u);
    *(uint32_t *)argument = sum;
    match_profile_end(2u);
    match_store(&queue[1].done, 1u);
}

static int session(plan_t plan)
{
    uint32_t sum = 0u, posted = 0u;
    int idle = 0;
    match_twin_queue(&queue[0].posted, &queue[0].done);
    match_twin_queue(&queue[1].posted, &queue[1].done);
    match_twin_poison(data, sizeof data);
    const uint32_t one = match_twin_start("producer", 1u, produce, NULL);
    const uint32_t two = match_twin_start("consumer", 2u, consume, &sum);
    match_store(&queue[0].posted, 2u);
    while ((match_load(&queue[0].done) < 2u) || (match_load(&queue[1].done) < 1u)) {
        if ((posted == 0u) && (match_load(&queue[0].done) >= plan.needs)) {
            posted = 1u;
            match_store(&queue[1].posted, 1u);
        } else if (match_port_wait() != 0) {
            if (++idle == 3) {
                match_store(&queue[0].posted, MATCH_CANCEL);
                match_store(&queue[1].posted, MATCH_CANCEL);
                printf("timeout %d %d\n", match_twin_join_bounded(one), match_twin_join_bounded(two));
                return 0;
            }
        }
    }
    match_twin_join(one);
    match_twin_join(two);
    printf("%u\n", (unsigned)sum);
    return 1;
}

static void needs_two(void)
{
    if (session((plan_t){2u}) != 0) {
        match_twin_write_summary(stdout);
        match_twin_write_events(stdout);
    }
}

static void needs_one(void) { (void)session((plan_t){1u}); }

static void needs_none(void) { (void)session((plan_t){0u}); }

/* ---- doorbells -------------------------------------------------------------------------------------------------------- */

static void ring_later(void *argument)
{
    (void)argument;
    match_twin_spend(1u, 70u);
    match_twin_ring(BELL);
}

static void bells(void)
{
    match_twin_ring(BELL);
    match_twin_sleep(BELL); /* a ring that came before is not lost */
    const uint32_t other = match_twin_start("other", 1u, ring_later, NULL);
    match_twin_sleep(BELL);
    printf("%u %d\n", (unsigned)match_twin_now(0u), (int)match_twin_rung(BELL));
    match_twin_join(other);
    printf("%d\n", match_twin_sleep_bounded(BELL));
}

static void sleep_for_ever(void *argument)
{
    (void)argument;
    match_twin_sleep(BELL);
}

static void deadlock(void) { match_twin_join(match_twin_start("sleeper", 1u, sleep_for_ever, NULL)); }

/* ---- operations in flight ---------------------------------------------------------------------------------------------- */

static void fill(void *argument)
{
    uint8_t *block;
    memcpy(&block, argument, sizeof block);
    memset(block, 7, sizeof data[0]);
}

static uint64_t copy(uint32_t n)
{
    uint8_t *const block = data[n];
    match_twin_poison(block, sizeof data[n]);
    return match_twin_defer(fill, &block, sizeof block);
}

static void copies_with_wait(void *argument)
{
    uint32_t *const sum = argument;
    for (uint32_t n = 0u; n < 2u; n++) {
        match_twin_complete(copy(n));
        *sum += data[n][0];
    }
}

static void copies_without_wait(void *argument)
{
    uint32_t *const sum = argument;
    const uint64_t ticket = copy(0u);
    *sum = data[0][0];
    match_twin_complete(ticket);
}

static void copies_never_waited_for(void *argument)
{
    (void)argument;
    (void)copy(0u);
}

/* The copy is waited for behind the task's end. */
static void copy_beyond_the_task(void *argument)
{
    (void)argument;
    match_twin_queue(&queue[0].posted, &queue[0].done);
    const uint64_t ticket = copy(0u);
    match_store(&queue[0].done, 1u);
    match_twin_complete(ticket);
}

/* Another context was asked for work; the second task says that it is done without a wait. */
static void work_that_others_do(void *argument)
{
    (void)argument;
    match_twin_queue(&queue[0].posted, &queue[0].done);
    match_twin_owe(true);
    match_twin_owe(false);
    match_store(&queue[0].done, 1u);
    match_twin_owe(true);
    match_store(&queue[0].done, 2u);
}

static void run_copies(void (*entry)(void *))
{
    uint32_t sum = 0u;
    match_twin_join(match_twin_start("copier", 1u, entry, &sum));
    printf("%u\n", (unsigned)sum);
}

static void waited(void) { run_copies(copies_with_wait); }

static void unwaited(void) { run_copies(copies_without_wait); }

static void forgotten(void) { run_copies(copies_never_waited_for); }

static void done_too_early(void) { run_copies(copy_beyond_the_task); }

static void owing(void) { run_copies(work_that_others_do); }

/* ---- main --------------------------------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    void (*run)(void);
} scenarios[] = {
    {"in_order_of_time", in_order_of_time}, {"link_in_order", link_in_order}, {"needs_two", needs_two},
    {"needs_one", needs_one}, {"needs_none", needs_none}, {"bells", bells}, {"deadlock", deadlock},
    {"waited", waited}, {"unwaited", unwaited}, {"forgotten", forgotten},
    {"done_too_early", done_too_early}, {"owing", owing},
};

int main(int argc, char **argv)
{
    if (argc != 3) {
        return 2;
    }
    match_twin_configure(argv[1]);
    match_twin_host_clock(0u);
    match_twin_signalling(5u, 11u, 7u, 3u);
    match_twin_reset();
    for (size_t i = 0u; i < sizeof scenarios / sizeof scenarios[0]; i++) {
        if (strcmp(scenarios[i].name, argv[2]) == 0) {
            scenarios[i].run();
            match_twin_check_queue();
            return 0;
        }
    }
    return 2;
}
