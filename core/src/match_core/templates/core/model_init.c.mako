int ${name}_init(const ${name}_t *ctx)
{
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
    ctx->state->status = ${guard}_OK;
% if any(queue.kind == "link" for queue in queues):
    ctx->state->swapping = 0u;
% endif
% for start in starts:
    if (${start}() != 0) {
        return ${guard}_ERROR_UNIT;
    }
% endfor
% if regions:
    if (${name}_load_regions(ctx->state) != 0) {
% for stop in stops:
        ${stop}();
% endfor
        return ${guard}_ERROR_UNIT;
    }
% endif
    return ${guard}_OK;
}
