/* The steps of a choice, what they wait for, and a lower bound of their finish. */
#ifndef MATCH_STEPS_H
#define MATCH_STEPS_H

#include <stdint.h>
#include <string.h>

#include "heap.h"

enum { HOST = 0, FAILED = -1 };

/* Lists of numbers, one after another: list i is values[starts[i]] up to values[starts[i + 1]]. */
typedef struct {
    int64_t *values, *starts;
    int64_t size, room, count, places;
} match_lists_t;

/* Signals and tasks in cycles, as in Signalling. `lines`: for each part of a division, its queue, its cycles, the number
 * of other queues that it keeps busy, and these. `needs`: for each part, the number of parts that it waits for, and for
 * each of them the operator and the part. */
typedef struct {
    int64_t gap, notify, post, wake, queues;
    match_lists_t lines, needs;
} match_estimator_t;

typedef struct {
    int64_t queue, cycles;
    const int64_t *others;
    int64_t other_count;
    int64_t first_need, need_count;
} step_t;

/* One evaluation: steps with what they need, readers of steps, and arrays with an element for each step or queue. */
typedef struct {
    const match_estimator_t *signals;
    step_t *steps;
    int64_t count, queues;
    int64_t *needs, need_count; /* by steps */
    int64_t *reader_starts, *readers;
    int64_t *after, *arrival, *unmet, *order, *ends;
    int64_t *free, *last, *next;
    heap_t events, *due, *later;
    int has_others;
} work_t;

/* Steps of operators whose lines and needs have these numbers; `firsts`: the first step of each operator. */
static void make_steps(work_t *work, const int64_t *lines, const int64_t *needs, int64_t operators, int64_t *firsts)
{
    const match_lists_t *every = &work->signals->lines, *waits = &work->signals->needs;
    for (int64_t place = 0; place < operators; place++) {
        const int64_t *line = every->values + every->starts[lines[place]];
        const int64_t *line_end = every->values + every->starts[lines[place] + 1];
        const int64_t *need = waits->values + waits->starts[needs[place]];
        firsts[place] = work->count;
        while (line < line_end) {
            step_t *step = &work->steps[work->count++];
            *step = (step_t){line[0], line[1], line + 3, line[2], work->need_count, *need++};
            line += 3 + step->other_count;
            work->has_others |= step->other_count > 0;
            for (int64_t number = 0; number < step->need_count; number++, need += 2) {
                work->needs[work->need_count++] = firsts[need[0]] + need[1];
            }
        }
    }
}

/* A lower bound of the finish: the longest chain, and the work of each queue after its earliest start. */
static int64_t least_finish(work_t *work)
{
    const match_estimator_t *s = work->signals;
    const int64_t wake = s->post + s->wake;
    int64_t finish = 0, *begun = work->last, *busy = work->free;
    for (int64_t queue = 0; queue < work->queues; queue++) {
        begun[queue] = INT64_MAX;
        busy[queue] = -s->gap;
    }
    for (int64_t number = 0; number < work->count; number++) {
        const step_t *step = &work->steps[number];
        int64_t start = step->queue == HOST ? 0 : wake;
        for (int64_t i = 0; i < step->need_count; i++) {
            const int64_t need = work->needs[step->first_need + i], other = work->steps[need].queue;
            const int64_t told = (other != HOST ? s->notify : 0) + (step->queue != HOST ? wake : 0);
            start = larger(start, work->ends[need] + (other == step->queue ? s->gap : told));
        }
        work->ends[number] = start + step->cycles;
        finish = larger(finish, work->ends[number] + (step->queue != HOST ? s->notify : 0));
        begun[step->queue] = start < begun[step->queue] ? start : begun[step->queue];
        busy[step->queue] += step->cycles + s->gap;
        for (int64_t i = 0; i < step->other_count; i++) {
            const int64_t other = step->others[i];
            begun[other] = start < begun[other] ? start : begun[other];
            busy[other] += step->cycles - s->gap;
        }
    }
    for (int64_t queue = 0; queue < work->queues; queue++) {
        if (begun[queue] != INT64_MAX) finish = larger(finish, begun[queue] + busy[queue]);
    }
    return finish;
}

/* Readers of each step: of all, or only those in other queues than the step's own. */
static void make_readers(work_t *work, int across)
{
    int64_t *starts = work->reader_starts;
    memset(starts, 0, (size_t)(work->count + 2) * sizeof *starts);
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t number = 0; number < work->count; number++) {
            const step_t *step = &work->steps[number];
            if (!pass) work->unmet[number] = 0;
            for (int64_t i = 0; i < step->need_count; i++) {
                const int64_t need = work->needs[step->first_need + i];
                if (across && work->steps[need].queue == step->queue) continue;
                if (!pass) {
                    starts[need + 2]++;
                    work->unmet[number]++;
                } else {
                    work->readers[starts[need + 1]++] = number;
                }
            }
        }
        for (int64_t number = 2; !pass && number < work->count + 2; number++) starts[number] += starts[number - 1];
    }
}

/* For each step, the cycles from its start to the end of all that depend on it. */
static void make_ranks(work_t *work, int64_t lag)
{
    memset(work->after, 0, (size_t)work->count * sizeof *work->after);
    for (int64_t number = work->count - 1; number >= 0; number--) {
        const step_t *step = &work->steps[number];
        work->after[number] += step->cycles;
        for (int64_t i = 0; i < step->need_count; i++) {
            const int64_t need = work->needs[step->first_need + i];
            const int64_t hop = work->steps[need].queue != step->queue ? lag : 0;
            work->after[need] = larger(work->after[need], work->after[number] + hop);
        }
    }
}

#endif
