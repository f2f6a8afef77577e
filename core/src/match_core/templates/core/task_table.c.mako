<%
    ins, outs, privates = (max(map(len, lists), default=0) for lists in (
        [row.inputs for row in queue.rows], [row.outputs for row in queue.rows], [row.privates for row in queue.rows]))

    regions = queue.has_regions

    def places(entries):
        lines = [", ".join(entries[i : i + 3]) for i in range(0, len(entries), 3)]
        return "(const match_place_t[]){" + ",\n        ".join(lines) + "}"
%>\
/* The tasks of ${queue.name}, in order. */
static const match_row_t rows[] = {
% for row in queue.rows:
${row.note}
    {.run = ${row.function}, .node = ${row.index}u,
% if row.inputs:
     .in = ${places(row.inputs)}, .inputs = ${len(row.inputs)}u,
% endif
% if row.near:
     .near = ${row.near},
% endif
% if row.privates:
     .private_near = ${places(row.privates)}, .privates = ${len(row.privates)}u,
% endif
% if row.scratch:
     .scratch = ${row.scratch},
% endif
     .out = ${places(row.outputs)}, .outputs = ${len(row.outputs)}u},
% endfor
};

% if regions:
/* By task: the number of its region plus 1, 0 for other tasks. */
static const uint32_t region_of[] = {
% for start in range(0, len(queue.regions), 16):
    ${", ".join(f"{0 if number is None else number + 1}u" for number in queue.regions[start : start + 16])},
% endfor
};

% endif
% if queue.has_calls:
/* By task: the function that hands it to its unit; NULL if the host runs it. */
static int (*const call_of[])(void (*run)(void *task), void *task) = {
% for start in range(0, len(queue.calls), 4):
    ${", ".join(call or "NULL" for call in queue.calls[start : start + 4])},
% endfor
};

% endif
/* Runs a task with the addresses of this run. */
% if queue.kind == "unit":
${section}
static void run_task(${"" if queue.changes_state else "const "}${name}_state_t *state, uint32_t n)
% else:
void ${name}_${queue.field}_run(${"" if queue.changes_state else "const "}${name}_state_t *state, uint32_t n)
% endif
{
    const match_row_t *const row = &rows[n];
% if ins:
    const void *in[${ins}];
% endif
    void *out[${outs}];
% if privates:
    uint8_t *private_near[${privates}];
% endif
% if ins:
    for (uint32_t i = 0u; i < row->inputs; i++) {
        in[i] = match_at(state->base, row->in[i]);
    }
% endif
    for (uint32_t i = 0u; i < row->outputs; i++) {
        out[i] = match_at(state->base, row->out[i]);
    }
% if privates:
    for (uint32_t i = 0u; i < row->privates; i++) {
        private_near[i] = match_at(state->base, row->private_near[i]);
    }
% endif
% if regions:
    const uint32_t region = region_of[n];
    ${name}_region_task_t task = {.task = {
% else:
    match_task_t task = {
% endif
        .near = match_at(state->base, row->near),
% if privates:
        .private_near = private_near,
% endif
% if ins:
        .in = in,
% endif
        .out = out,
        .scratch = match_at(state->base, row->scratch),
% for store in stores:
        .store = state->${store.field},
% endfor
% if regions:
    }};
    if (region > 0u) {
        task.handle = (void *)(uintptr_t)state->region_handle[region - 1u];
    }
% else:
    };
% endif
    MATCH_NODE_BEGIN(row->node);
% if queue.has_calls:
    if (call_of[n] == NULL) {
        row->run(&task);
    } else if (call_of[n](row->run, &task) != 0) {
        state->status = ${guard}_ERROR_UNIT;
    }
% else:
    row->run(&task);
% endif
% if queue.done:
    if (task.status == 0) {
        state->started |= 1u << ${name}_queue_${queue.field};
    } else {
        ${name}_${queue.field}_end(state, n, 1u);
    }
% else:
    MATCH_NODE_END(row->node);
% if regions:
    if (region > 0u) {
        state->region_result[region - 1u].failed = (task.status != 0) ? 1u : 0u;
    }
% endif
% endif
}
% if queue.done:

/* A region that was started has ended, or could not be started. */
void ${name}_${queue.field}_end(${name}_state_t *state, uint32_t n, uint32_t failed)
{
    MATCH_NODE_END(rows[n].node);
    state->region_result[region_of[n] - 1u].failed = failed;
    state->started &= ~(1u << ${name}_queue_${queue.field});
    match_store(&state->queue[${name}_queue_${queue.field}].done, n + 1u);
}
% endif
% if queue.kind == "unit":

/* The unit's part of a run: waits until the host has posted a task, then runs it. */
void ${name}_${queue.field}_loop(void *argument)
{
    ${name}_state_t *const state = argument;
    match_queue_t *const queue = &state->queue[${name}_queue_${queue.field}];
    for (uint32_t n = 0u; n < ${len(queue.rows)}u; n++) {
        if (${queue.wait}(queue, n + 1u) != 0) {
            return;
        }
        run_task(state, n);
        match_store(&queue->done, n + 1u);
% if queue.notify:
        ${queue.notify}();
% endif
    }
}
% endif
