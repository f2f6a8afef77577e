/* The engine as a thread of this machine. */
#define _DEFAULT_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "engine.h"
#include "match_runtime.h"

static pthread_t thread;

typedef struct {
    void (*loop)(void *);
    void *argument;
} job_t;

static job_t job;

static void *work(void *argument)
{
    const job_t *const mine = argument;
    mine->loop(mine->argument);
    return NULL;
}

int engine_start(void) { return 0; }
void engine_stop(void) {}

int engine_call(void (*entry)(void *), void *argument)
{
    entry(argument);
    return 0;
}

int engine_launch(void (*loop)(void *), void *argument)
{
    job = (job_t){loop, argument};
    return pthread_create(&thread, NULL, work, &job);
}

int engine_join(void) { return pthread_join(thread, NULL); }

static struct {
    void *handle, *out[8], *scratch;
    const void *in[8];
    int status;
    atomic_int state; /* 0: idle, 1: busy, 2: ended */
} region;

static void *compute(void *argument)
{
    (void)argument;
    region.status = engine_run(region.handle, region.in, region.out, region.scratch);
    atomic_store(&region.state, 2);
    return NULL;
}

int engine_begin(void *handle, const void *const *in, void *const *out, void *scratch)
{
    const match_region_t *const made = *(const match_region_t *const *)handle;
    if (atomic_load(&region.state) != 0) {
        return 1;
    }
    region.handle = handle;
    region.scratch = scratch;
    memcpy(region.in, in, made->inputs_count * sizeof *in);
    memcpy(region.out, out, made->outputs_count * sizeof *out);
    atomic_store(&region.state, 1);
    return pthread_create(&thread, NULL, compute, NULL);
}

int engine_done(void)
{
    if (atomic_load(&region.state) != 2) {
        return 0;
    }
    (void)pthread_join(thread, NULL);
    atomic_store(&region.state, 0);
    return (region.status == 0) ? 1 : -1;
}

int match_port_wait(void)
{
    usleep(50);
    return 0;
}
