/* An application of program net: how often its regions are loaded, run and unloaded, also where the engine fails. */
#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "engine.h"
#include "net.h"

#define ELEMENTS 24

typedef struct {
    alignas(NET_RAM_ALIGN) uint8_t ram[NET_RAM_BYTES];
    net_state_t state;
    net_t ctx;
    float x[ELEMENTS], y[ELEMENTS], early[ELEMENTS], late[ELEMENTS], other[ELEMENTS];
} instance_t;

static instance_t one, two;

#define CHECK(what) \
    if (!(what)) { \
        fprintf(stderr, "line %d: %s; %u loads, %u runs, %u unloads\n", __LINE__, #what, (unsigned)engine_loads, \
                (unsigned)engine_runs, (unsigned)engine_unloads); \
        return 1; \
    }

static int init(instance_t *instance, float first)
{
    for (int n = 0; n < ELEMENTS; n++) {
        instance->x[n] = first + (float)n;
        instance->y[n] = 0.25f * (float)(n % 5) - 0.5f;
    }
    instance->ctx = (net_t){.ram = instance->ram, .state = &instance->state};
    return net_init(&instance->ctx);
}

static int run(instance_t *instance)
{
    const net_inputs_t in = {.x = instance->x, .y = instance->y};
    const net_outputs_t out = {.early = instance->early, .late = instance->late, .other = instance->other};
    return net_run(&instance->ctx, &in, &out);
}

static int stay_loaded(void)
{
    one.ctx = (net_t){.ram = one.ram, .state = &one.state};
    CHECK(run(&one) == NET_ERROR_STATE && engine_runs == 0u) /* not initialised */
    CHECK(init(&one, 1.0f) == NET_OK)
    CHECK(engine_loads == 2u && engine_unloads == 0u)
    for (int n = 0; n < 20; n++) {
        CHECK(run(&one) == NET_OK)
    }
    CHECK(engine_loads == 2u && engine_runs == 40u)
    CHECK(init(&one, 1.0f) == NET_OK) /* again without stop: the regions stay */
    CHECK(run(&one) == NET_OK && engine_loads == 2u)
    net_stop(&one.ctx);
    CHECK(engine_unloads == 2u)
    net_stop(&one.ctx);
    CHECK(engine_unloads == 2u)
    CHECK(run(&one) == NET_ERROR_STATE && engine_runs == 42u)
    CHECK(init(&one, 1.0f) == NET_OK)
    CHECK(run(&one) == NET_OK && engine_loads == 4u)
    net_stop(&one.ctx);
    CHECK(engine_unloads == 4u)
    return 0;
}

static int two_instances(void)
{
    engine_loads = engine_runs = engine_unloads = 0u;
    CHECK(init(&one, 1.0f) == NET_OK && init(&two, -3.0f) == NET_OK)
    CHECK(engine_loads == 4u)
    CHECK(run(&one) == NET_OK && run(&two) == NET_OK && run(&one) == NET_OK)
    CHECK(memcmp(one.late, two.late, sizeof one.late) != 0)
    net_stop(&one.ctx);
    CHECK(engine_unloads == 2u)
    float before[ELEMENTS];
    memcpy(before, two.other, sizeof before);
    memset(two.other, 0, sizeof before);
    CHECK(init(&two, -3.0f) == NET_OK) /* the other instance stopped the unit that they share */
    CHECK(run(&two) == NET_OK && memcmp(before, two.other, sizeof before) == 0)
    net_stop(&two.ctx);
    CHECK(engine_unloads == 4u && engine_loads == 4u)
    return 0;
}

static int failures(void)
{
    for (uint32_t failing = 1u; failing <= 2u; failing++) {
        engine_loads = engine_runs = engine_unloads = 0u;
        engine_failing_load = failing;
        CHECK(init(&one, 1.0f) == NET_ERROR_UNIT)
        CHECK(engine_loads == failing && engine_unloads == failing - 1u)
        net_stop(&one.ctx);
        CHECK(engine_unloads == failing - 1u)
        engine_failing_load = 0u;
        CHECK(init(&one, 1.0f) == NET_OK && run(&one) == NET_OK)
        engine_runs = 0u;
        engine_failing_run = failing;
        CHECK(run(&one) == NET_ERROR_UNIT)
        CHECK(engine_runs == failing)
        engine_failing_run = 0u;
        CHECK(run(&one) == NET_OK) /* the next inference is a new one */
        net_stop(&one.ctx);
        CHECK(engine_unloads == failing + 1u)
    }
    return 0;
}

int main(void)
{
    _Static_assert(sizeof(net_state_t) == STATE_BYTES, "the manifest says how large the state is");
    return stay_loaded() || two_instances() || failures();
}
