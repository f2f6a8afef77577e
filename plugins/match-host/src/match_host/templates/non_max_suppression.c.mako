## The boxes of a class in the order of their scores; of equal ones the first. What is chosen is read back from the output.
<%
def corner(side, box):
    low, high = (side, side + 2)
    at = lambda index: f"in0[(b * {boxes} + {box}) * 4 + {index}]"
    if centred:
        # centre of x and y, width, height
        middle, size = at(1 - side), at(3 - side)
        return f"{middle} - {size} / 2.0f", f"{middle} + {size} / 2.0f"
    return f"{at(low)} < {at(high)} ? {at(low)} : {at(high)}", f"{at(low)} < {at(high)} ? {at(high)} : {at(low)}"
def box(number):
    return ", ".join(text for side in (0, 1) for text in corner(side, number))
%>\
    int32_t found = 0;
    for (int32_t b = 0; b < ${batch}; b++) {
        for (int32_t c = 0; c < ${classes}; c++) {
            const ${type} *const score = &in1[(b * ${classes} + c) * ${boxes}];
            const int32_t begin = found;
            int32_t last = -1;
            for (int32_t seen = 0; seen < ${boxes} && found < ${kept} && found - begin < ${most}; seen++) {
                int32_t best = -1;
                for (int32_t k = 0; k < ${boxes}; k++) {
                    const int waits = last < 0 || score[k] < score[last] || (score[k] == score[last] && k > last);
                    best = waits && (best < 0 || score[k] > score[best]) ? k : best;
                }
                if (best < 0${f" || !(score[best] > {least})" if least else ""}) {
                    break;
                }
                last = best;
                const ${type} own[4] = {${box("best")}};
                int32_t kept = 1;
                for (int32_t r = begin; r < found && kept != 0; r++) {
                    const int32_t chosen = (int32_t)out0[r * 3 + 2];
                    const ${type} other[4] = {${box("chosen")}};
                    kept = host_box_overlap(own, other) > ${overlap} ? 0 : 1;
                }
                if (kept != 0) {
                    out0[found * 3] = b;
                    out0[found * 3 + 1] = c;
                    out0[found * 3 + 2] = best;
                    found++;
                }
            }
        }
    }
    for (; found < ${kept}; found++) {
        out0[found * 3] = -1;
        out0[found * 3 + 1] = -1;
        out0[found * 3 + 2] = -1;
    }
