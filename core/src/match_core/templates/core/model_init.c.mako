<%
    owner = f"(void *)(uintptr_t){'state'}->owner" if queues else "state->owner"
    own = "(void *)state" if queues else "state"
    handle = "(match_address_t)(uintptr_t)" if queues else ""
    nothing = "0u" if queues else "NULL"
    started = []

    def checks(ios, struct):
        for io in ios:
            if io.elements:
                yield f"({struct}->{io.field} == NULL)"
                if io.ctype not in ("int8_t", "uint8_t", "bool"):
                    yield f"(((uintptr_t){struct}->{io.field} % _Alignof({io.ctype})) != 0u)"
%>\
/* ${guard}_OK if the context and the memory that it names can be used. */
static int check(const ${name}_t *ctx)
{
    if (ctx == NULL) {
        return ${guard}_ERROR_ARGUMENT;
    }
    if ((ctx->state == NULL) || (((uintptr_t)ctx->state % _Alignof(${name}_state_t)) != 0u)) {
        return ${guard}_ERROR_ARENA;
    }
% for arena in arenas:
    if ((ctx->${arena.field} == NULL) || (((uintptr_t)ctx->${arena.field} % ${guard}_${arena.macro}_ALIGN) != 0u)) {
        return ${guard}_ERROR_ARENA;
    }
% endfor
% for area in [*stores, *swap_areas]:
    if ((ctx->${area.field} % ${guard}_${area.macro}_ALIGN) != 0u) {
        return ${guard}_ERROR_ARENA;
    }
% endfor
    return ${guard}_OK;
}

/* ${guard}_OK if the context can be used and is initialised. */
static int initialised(const ${name}_t *ctx)
{
    const int status = check(ctx);
    if (status != ${guard}_OK) {
        return status;
    }
    const ${name}_state_t *const state = ctx->state;
    return (${owner} == ${"(const void *)state" if queues else "state"}) ? ${guard}_OK : ${guard}_ERROR_STATE;
}

/* ${guard}_OK if an inference with these tensors can start. */
static int startable(const ${name}_t *ctx, const ${name}_inputs_t *inputs, const ${name}_outputs_t *outputs)
{
    const int status = initialised(ctx);
    if (status != ${guard}_OK) {
        return status;
    }
    if ((inputs == NULL) || (outputs == NULL)) {
        return ${guard}_ERROR_ARGUMENT;
    }
% for ios, struct in ((inputs, "inputs"), (outputs, "outputs")):
% for condition in checks(ios, struct):
    if ${condition if condition.count("(") == 1 else f"({condition[1:-1]})"} {
        return ${guard}_ERROR_ARGUMENT;
    }
% endfor
% endfor
    return (ctx->state->status == ${guard}_BUSY) ? ${guard}_ERROR_UNIT : ${guard}_OK;
}

int ${name}_init(const ${name}_t *ctx)
{
    const int status = check(ctx);
    if (status != ${guard}_OK) {
        return status;
    }
    ${name}_state_t *const state = ctx->state;
    if (${owner} == ${own}) { /* initialised already */
        return (state->status == ${guard}_BUSY) ? ${guard}_ERROR_UNIT : ${guard}_OK;
    }
    state->status = ${guard}_OK;
    state->cancelled = 0u;
% if any(queue.kind == "link" for queue in queues):
    state->swapping = 0u;
% endif
% if any(queue.done for queue in queues):
    state->started = 0u;
% endif
% for start, stop in platforms:
% if start:
    if (${start}() != 0) {
% for other in reversed(started):
        ${other}();
% endfor
        return ${guard}_ERROR_UNIT;
    }
% endif
<% started += [stop] if stop else [] %>\
% endfor
% if regions:
    if (${name}_load_regions(state) != 0) {
% for stop in reversed(started):
        ${stop}();
% endfor
        return ${guard}_ERROR_UNIT;
    }
% endif
    state->owner = ${handle}state;
    return ${guard}_OK;
}

int ${name}_cancel(const ${name}_t *ctx)
{
    const int status = initialised(ctx);
    if (status == ${guard}_OK) {
        ctx->state->cancelled = 1u;
    }
    return status;
}

void ${name}_stop(const ${name}_t *ctx)
{
    if (initialised(ctx) != ${guard}_OK) {
        return;
    }
    ${name}_state_t *const state = ctx->state;
% if queues:
    if (state->status == ${guard}_BUSY) {
        cancel(state, ${name}_queues);
    }
% endif
% if swap_wait:
    ${swap_wait}(0u);
% endif
    state->status = ${guard}_OK;
    state->owner = ${nothing};
% if regions:
    ${name}_unload_regions(state);
% endif
% for stop in reversed(started):
    ${stop}();
% endfor
}

int ${name}_run(const ${name}_t *ctx, const ${name}_inputs_t *inputs, const ${name}_outputs_t *outputs)
{
    const int status = ${name}_start(ctx, inputs, outputs);
    return (status == ${guard}_OK) ? ${name}_wait(ctx) : status;
}

