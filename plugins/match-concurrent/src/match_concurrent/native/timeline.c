/* The finish of a choice of divisions on the time line: what mapping/timeline.py computes, faster.
 *
 * Python's functions of the same names are the reference: for every input, both give the same number. An estimator keeps
 * tables of what choices consist of, so that a call passes two numbers for each operator only.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "orders.h"

static int append(match_lists_t *lists, const int64_t *values, int64_t count)
{
    if (lists->size + count > lists->room) {
        const int64_t room = 2 * (lists->size + count);
        int64_t *grown = realloc(lists->values, (size_t)room * sizeof *grown);
        if (grown == NULL) return 0;
        lists->values = grown;
        lists->room = room;
    }
    if (lists->count + 2 > lists->places) {
        const int64_t places = 2 * lists->count + 64;
        int64_t *grown = realloc(lists->starts, (size_t)places * sizeof *grown);
        if (grown == NULL) return 0;
        lists->starts = grown;
        lists->places = places;
    }
    memcpy(lists->values + lists->size, values, (size_t)count * sizeof *values);
    lists->starts[lists->count++] = lists->size;
    lists->size += count;
    lists->starts[lists->count] = lists->size;
    return 1;
}

match_estimator_t *match_estimator_new(int64_t gap, int64_t notify, int64_t post, int64_t wake, int64_t queues)
{
    match_estimator_t *made = calloc(1, sizeof *made);
    if (made != NULL) {
        made->gap = gap;
        made->notify = notify;
        made->post = post;
        made->wake = wake;
        made->queues = queues;
    }
    return made;
}

void match_estimator_free(match_estimator_t *estimator)
{
    free(estimator->lines.values);
    free(estimator->lines.starts);
    free(estimator->needs.values);
    free(estimator->needs.starts);
    free(estimator);
}

/* The number of a list that is kept, FAILED without memory. */
int64_t match_estimator_keep(match_estimator_t *estimator, int needs, const int64_t *values, int64_t count)
{
    match_lists_t *lists = needs ? &estimator->needs : &estimator->lines;
    return append(lists, values, count) ? lists->count - 1 : FAILED;
}

/* Drop all lines: costs have changed. */
void match_estimator_forget(match_estimator_t *estimator)
{
    estimator->lines.size = estimator->lines.count = 0;
}

/* As in docs/programs.md: the host posts what it knows to be ready, then runs at most one task of its own. */
static int64_t simulate(work_t *work, int64_t limit)
{
    const match_estimator_t *s = work->signals;
    int64_t now = 0, left = work->count;
    int64_t *line_starts = work->last, *lines = work->ends, *next = work->next;
    make_readers(work, 1);
    /* The steps of each queue in the order, queue after queue; `next` of each queue. */
    memset(line_starts, 0, (size_t)(work->queues + 2) * sizeof *line_starts);
    for (int64_t number = 0; number < work->count; number++) line_starts[work->steps[number].queue + 2]++;
    for (int64_t queue = 2; queue < work->queues + 2; queue++) line_starts[queue] += line_starts[queue - 1];
    for (int64_t position = 0; position < work->count; position++) {
        lines[line_starts[work->steps[work->order[position]].queue + 1]++] = work->order[position];
    }
    for (int64_t queue = 0; queue < work->queues; queue++) {
        next[queue] = line_starts[queue];
        work->free[queue] = -s->gap;
    }
    work->events.size = 0;
    while (left) {
        int active = 0;
        if (now > limit) return now;
        while (work->events.size && work->events.entries[0].first <= now) {
            const int64_t done = pop(&work->events).number;
            left--;
            for (int64_t i = work->reader_starts[done]; i < work->reader_starts[done + 1]; i++) {
                work->unmet[work->readers[i]]--;
            }
        }
        for (int64_t queue = 1; queue < work->queues; queue++) {
            const int64_t end = line_starts[queue + 1];
            if (next[queue] == end || work->unmet[lines[next[queue]]]) continue;
            active = 1;
            now += s->post;
            for (; next[queue] < end && !work->unmet[lines[next[queue]]]; next[queue]++) {
                const int64_t number = lines[next[queue]];
                const int64_t start = larger(work->free[queue] + s->gap, now + s->wake);
                work->free[queue] = start + work->steps[number].cycles;
                push(&work->events, work->free[queue] + s->notify, 0, number);
            }
        }
        if (next[HOST] < line_starts[HOST + 1] && !work->unmet[lines[next[HOST]]]) {
            const int64_t number = lines[next[HOST]++];
            now = larger(now, work->free[HOST] + s->gap) + work->steps[number].cycles;
            work->free[HOST] = now;
            push(&work->events, now, 0, number);
        } else if (!active && left) {
            if (!work->events.size) return FAILED; /* steps wait for each other */
            now = larger(now, work->events.entries[0].first);
        }
    }
    return now;
}

static int64_t finish_of(work_t *work, int64_t limit)
{
    const match_estimator_t *s = work->signals;
    const int64_t lag = s->notify + s->post + s->wake, bound = least_finish(work);
    if (bound > limit) return bound;
    make_readers(work, 0);
    make_ranks(work, lag);
    if (work->has_others) {
        order_occupying(work, lag);
        keep_apart(work);
    } else {
        order_plain(work, lag);
    }
    return simulate(work, limit);
}

/* The finish of the time line in the order of list scheduling; a number above `limit` if it is longer than that; FAILED
 * without memory, or if steps wait for each other. `lines` and `needs`: numbers of lists, for each operator. */
int64_t match_estimator_finish(
    const match_estimator_t *estimator, const int64_t *lines, const int64_t *needs, int64_t operators, int64_t limit)
{
    const int64_t queues = estimator->queues;
    int64_t steps = 0, waits = 0, others = 0;
    for (int64_t place = 0; place < operators; place++) {
        const int64_t *starts = estimator->lines.starts + lines[place];
        steps += (starts[1] - starts[0]) / 3; /* at most: a line has three numbers and its other queues */
        others += starts[1] - starts[0];
        waits += estimator->needs.starts[needs[place] + 1] - estimator->needs.starts[needs[place]];
    }
    const int64_t needs_max = 2 * waits + others + steps; /* once as they are, once with what keeps steps apart */
    const int64_t numbers = 8 * steps + 8 + 2 * needs_max + 4 * (queues + 4) + operators;
    const int64_t heaps = 2 * queues * steps + steps;
    char *memory = malloc((size_t)numbers * sizeof(int64_t) + (size_t)heaps * sizeof(entry_t) +
                          (size_t)steps * sizeof(step_t) + (size_t)(2 * queues) * sizeof(heap_t) + 8);
    if (memory == NULL) return FAILED;
    int64_t *place = (int64_t *)(void *)memory;
    work_t work = {.signals = estimator, .queues = queues};
    int64_t **arrays[] = {&work.after, &work.arrival, &work.unmet, &work.order, &work.ends};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++, place += steps) *arrays[i] = place;
    work.reader_starts = place, place += steps + 2;
    work.next = place, place += larger(steps, queues) + 1;
    work.needs = place, place += needs_max;
    work.readers = place, place += needs_max;
    work.free = place, place += queues + 2;
    work.last = place, place += queues + 2;
    int64_t *firsts = place;
    place += operators;
    work.steps = (step_t *)(void *)place;
    entry_t *entry = (entry_t *)(void *)(work.steps + steps);
    work.events.entries = entry, entry += steps;
    heap_t *heap = (heap_t *)(void *)(entry + 2 * queues * steps);
    work.due = heap;
    work.later = heap + queues;
    for (int64_t queue = 0; queue < 2 * queues; queue++, entry += steps) heap[queue].entries = entry;
    make_steps(&work, lines, needs, operators, firsts);
    const int64_t finish = finish_of(&work, limit);
    free(memory);
    return finish;
}
