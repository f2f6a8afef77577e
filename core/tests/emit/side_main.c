/* side_main.c - runs the programs `side` and `again` in the way that the argument says and prints each output in
 * hexadecimal. A result that is not the expected one is a fault. SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "again.h"
#include "fake_queues.h"
#include "fake_unit.h"
#include "side.h"
#include "side_data.h"

static _Alignas(16) uint8_t near[SIDE_NEAR_BYTES], home[2][SIDE_HOME_BYTES];
static uint8_t out[2][sizeof((side_outputs_t){0}.out[0]) * OUTPUT_BYTES];
static side_state_t states[2];
static again_state_t again_state;

static void expect(int found, int wanted, const char *what)
{
    if (found != wanted) {
        fprintf(stderr, "fault: %s gives %d, not %d\n", what, found, wanted);
        exit(3);
    }
}

static void print(uint8_t *output)
{
    for (uint32_t i = 0; i < OUTPUT_BYTES; i++) {
        printf("%02x", output[i]);
    }
    printf("\n");
    memset(output, 0xA5, OUTPUT_BYTES);
}

static side_t instance(int number)
{
    memset(home[number], 0xA5, sizeof home[number]);
    memset(near, 0xA5, sizeof near);
    return (side_t){near, home[number], fake_load_store(side_image, sizeof side_image), 0, &states[number]};
}

static const side_inputs_t in = {side_x};
static const side_outputs_t outs[2] = {{out[0]}, {out[1]}};

/* Twice the same, then in steps of the application's own. */
static void run_one(void)
{
    const side_t one = instance(0);
    expect(side_poll(&one), SIDE_OK, "poll before start");
    for (int turn = 0; turn < 2; turn++) {
        expect(side_run(&one, &in, &outs[0]), SIDE_OK, "run");
        print(out[0]);
    }
    expect(side_start(&one, &in, &outs[0]), SIDE_OK, "start");
    expect(side_start(&one, &in, &outs[0]), SIDE_ERROR_UNIT, "a second start");
    int status = SIDE_BUSY;
    while (status == SIDE_BUSY) {
        status = side_poll(&one);
    }
    expect(status, SIDE_OK, "poll");
    expect(side_wait(&one), SIDE_OK, "wait after the end");
    print(out[0]);
    expect((int)fake_swaps, 6, "swaps");
}

/* While one instance or program runs, others get an error and disturb nothing. */
static void run_two(void)
{
    const side_t one = instance(0), two = instance(1);
    const again_t again = {near, home[1], one.store, 0, &again_state};
    const again_inputs_t again_in = {side_x};
    const again_outputs_t again_out = {out[1]};
    expect(side_init(&two), SIDE_OK, "init of another instance");
    expect(again_init(&again), AGAIN_OK, "init of another program");
    expect(side_start(&one, &in, &outs[0]), SIDE_OK, "start");
    expect(side_start(&two, &in, &outs[1]), SIDE_ERROR_UNIT, "start of another instance");
    expect(again_run(&again, &again_in, &again_out), AGAIN_ERROR_UNIT, "run of another program");
    expect(side_wait(&one), SIDE_OK, "wait");
    print(out[0]);
    expect(side_run(&two, &in, &outs[1]), SIDE_OK, "run of the other instance");
    print(out[1]);
    expect(again_run(&again, &again_in, &again_out), AGAIN_OK, "run of the other program");
    print(out[1]);
}

/* A unit that hangs, or a swap that does not end, is an error; after stop and init all is well. */
static void hang(int unit, uint32_t task)
{
    const side_t one = instance(0);
    fake_hang(unit, task);
    fake_swaps_hang(unit == 0);
    fake_wait_limit = 3000; /* longer than a busy machine needs for the tasks before */
    expect(side_run(&one, &in, &outs[0]), SIDE_ERROR_TIMEOUT, "run with something that hangs");
    if (unit != 0) {
        expect(side_run(&one, &in, &outs[0]), SIDE_ERROR_UNIT, "run while a unit hangs");
    }
    side_stop(&one);
    fake_swaps_hang(0);
    fake_wait_limit = 300000;
    expect(side_init(&one), SIDE_OK, "init after stop");
    expect(side_run(&one, &in, &outs[0]), SIDE_OK, "run after init");
    print(out[0]);
}

/* An application that only polls gives up by itself. */
static void give_up(void)
{
    const side_t one = instance(0);
    fake_hang(2, 2);
    expect(side_start(&one, &in, &outs[0]), SIDE_OK, "start");
    for (int turn = 0; turn < 100; turn++) {
        expect(side_poll(&one), SIDE_BUSY, "poll while a unit hangs");
    }
    side_stop(&one);
    expect(side_init(&one), SIDE_OK, "init after stop");
    expect(side_run(&one, &in, &outs[0]), SIDE_OK, "run after init");
    print(out[0]);
}

int main(int argc, char **argv)
{
    const char *const way = (argc > 1) ? argv[1] : "";
    const side_t one = instance(0);
    expect(side_init(&one), SIDE_OK, "init");
    if (strcmp(way, "one") == 0) {
        run_one();
    } else if (strcmp(way, "two") == 0) {
        run_two();
    } else if (strcmp(way, "array") == 0) {
        hang(1, 2);
    } else if (strcmp(way, "other") == 0) {
        hang(2, 1);
    } else if (strcmp(way, "swap") == 0) {
        hang(0, 0);
    } else if (strcmp(way, "poll") == 0) {
        give_up();
    }
    side_stop(&one);
    return 0;
}
