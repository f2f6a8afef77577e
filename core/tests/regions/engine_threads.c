/* The engine as a thread of this machine. */
#define _DEFAULT_SOURCE
#include <pthread.h>
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

int match_port_wait(void)
{
    usleep(50);
    return 0;
}
