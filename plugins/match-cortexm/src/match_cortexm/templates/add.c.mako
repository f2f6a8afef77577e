## Sums of two tensors, scaled.
% if vectors:
    for (int32_t i = 0; i < ${count - count % 4}; i += 4) {
        ${vectors}
    }
% endif
% if not vectors or count % 4:
    for (int32_t i = ${count - count % 4 if vectors else 0}; i < ${count}; i++) {
        out0[i] = (${ctype})${result};
    }
% endif
