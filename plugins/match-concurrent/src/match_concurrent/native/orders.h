/* Orders of steps: list scheduling, as in mapping/timeline.py. */
#ifndef MATCH_ORDERS_H
#define MATCH_ORDERS_H

#include "steps.h"

static void order_plain(work_t *work, int64_t lag)
{
    memset(work->free, 0, (size_t)work->queues * sizeof *work->free);
    memset(work->arrival, 0, (size_t)work->count * sizeof *work->arrival);
    for (int64_t queue = 0; queue < work->queues; queue++) work->due[queue].size = work->later[queue].size = 0;
    for (int64_t number = 0; number < work->count; number++) {
        if (!work->unmet[number]) push(&work->later[work->steps[number].queue], 0, -work->after[number], number);
    }
    for (int64_t position = 0; position < work->count; position++) {
        entry_t best = {INT64_MAX, INT64_MAX, INT64_MAX};
        for (int64_t queue = 0; queue < work->queues; queue++) {
            heap_t *due = &work->due[queue], *later = &work->later[queue];
            while (later->size && later->entries[0].first <= work->free[queue]) {
                const entry_t ready = pop(later);
                push(due, ready.second, 0, ready.number);
            }
            if (due->size) {
                const entry_t found = {work->free[queue], due->entries[0].first, due->entries[0].number};
                best = below(found, best) ? found : best;
            } else if (later->size && below(later->entries[0], best)) {
                best = later->entries[0];
            }
        }
        const step_t *step = &work->steps[best.number];
        pop(work->due[step->queue].size ? &work->due[step->queue] : &work->later[step->queue]);
        work->order[position] = best.number;
        const int64_t end = best.first + step->cycles;
        work->free[step->queue] = end + work->signals->gap;
        for (int64_t i = work->reader_starts[best.number]; i < work->reader_starts[best.number + 1]; i++) {
            const int64_t reader = work->readers[i], other = work->steps[reader].queue;
            work->arrival[reader] = larger(work->arrival[reader], end + (other != step->queue ? lag : 0));
            if (!--work->unmet[reader]) push(&work->later[other], work->arrival[reader], -work->after[reader], reader);
        }
    }
}

/* The earliest start of a ready step whose units may be busy. */
static int64_t begin_of(const work_t *work, int64_t number, int64_t lag)
{
    const step_t *step = &work->steps[number];
    int64_t earliest = work->arrival[number];
    for (int64_t i = -1; i < step->other_count; i++) {
        const int64_t line = i < 0 ? step->queue : step->others[i], before = work->last[line];
        if (before >= 0) {
            const int same = work->steps[before].queue == step->queue;
            earliest = larger(earliest, work->ends[before] + (same ? work->signals->gap : lag));
        }
    }
    return earliest;
}

static void order_occupying(work_t *work, int64_t lag)
{
    int64_t *ready = work->next, size = 0;
    for (int64_t queue = 0; queue < work->queues; queue++) work->last[queue] = -1;
    memset(work->arrival, 0, (size_t)work->count * sizeof *work->arrival);
    for (int64_t number = 0; number < work->count; number++) {
        if (!work->unmet[number]) ready[size++] = number;
    }
    for (int64_t position = 0; position < work->count; position++) {
        entry_t best = {INT64_MAX, INT64_MAX, INT64_MAX};
        int64_t place = 0;
        for (int64_t i = 0; i < size; i++) {
            const entry_t found = {begin_of(work, ready[i], lag), -work->after[ready[i]], ready[i]};
            if (below(found, best)) {
                best = found;
                place = i;
            }
        }
        ready[place] = ready[--size];
        const step_t *step = &work->steps[best.number];
        const int64_t end = work->ends[best.number] = best.first + step->cycles;
        work->order[position] = best.number;
        work->last[step->queue] = best.number;
        for (int64_t i = 0; i < step->other_count; i++) work->last[step->others[i]] = best.number;
        for (int64_t i = work->reader_starts[best.number]; i < work->reader_starts[best.number + 1]; i++) {
            const int64_t reader = work->readers[i];
            const int64_t told = work->steps[reader].queue != step->queue ? lag : 0;
            work->arrival[reader] = larger(work->arrival[reader], end + told);
            if (!--work->unmet[reader]) ready[size++] = reader;
        }
    }
}

/* Steps also need what keeps them apart in the chosen order: the last step of another queue on each of their units.
 * The needs of all steps are written anew behind the old ones. */
static void keep_apart(work_t *work)
{
    for (int64_t queue = 0; queue < work->queues; queue++) work->last[queue] = -1;
    for (int64_t position = 0; position < work->count; position++) {
        const int64_t number = work->order[position];
        step_t *step = &work->steps[number];
        const int64_t first = work->need_count, own = step->need_count;
        memcpy(work->needs + first, work->needs + step->first_need, (size_t)own * sizeof *work->needs);
        work->need_count += own;
        for (int64_t i = -1; i < step->other_count; i++) {
            const int64_t line = i < 0 ? step->queue : step->others[i], before = work->last[line];
            int known = before < 0 || work->steps[before].queue == step->queue;
            for (int64_t j = first; !known && j < work->need_count; j++) known = work->needs[j] == before;
            if (!known) work->needs[work->need_count++] = before;
        }
        step->first_need = first;
        step->need_count = work->need_count - first;
        work->last[step->queue] = number;
        for (int64_t i = 0; i < step->other_count; i++) work->last[step->others[i]] = number;
    }
}

#endif
