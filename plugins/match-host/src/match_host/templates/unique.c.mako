## Unique slices along an axis: scratch lists where each stands first. Sorted ones are kept in order as they are found.
<%
def element(k):
    return load(f"in0[o * {size * inner} + {k} * {inner} + j]")
# NaN is equal to itself and above all numbers, as numpy sorts.
above = "(a > b || (a != a && b == b)) - (a < b || (b != b && a == a))" if real else "(a > b) - (a < b)"
%>\
    int32_t *const first = scratch;
    int32_t found = 0;
% if outputs > 3:
    for (int32_t r = 0; r < ${kept}; r++) {
        out3[r] = 0;
    }
% endif
    for (int32_t k = 0; k < ${size}; k++) {
        int32_t r = 0, order = 1;
        for (; r < found; r++) {
            const int32_t known = first[r];
            order = 0;
            for (int32_t o = 0; o < ${outer} && order == 0; o++) {
                for (int32_t j = 0; j < ${inner} && order == 0; j++) {
                    const ${type} a = ${element("k")}, b = ${element("known")};
                    order = ${above};
                }
            }
% if ordered:
            if (order <= 0) {
% else:
            if (order == 0) {
% endif
                break;
            }
        }
        if (r == found || order != 0) {
            for (int32_t s = found; s > r; s--) {
                first[s] = first[s - 1];
            }
            first[r] = k;
            found++;
        }
    }
    for (int32_t r = 0; r < ${kept}; r++) {
        for (int32_t o = 0; o < ${outer}; o++) {
            for (int32_t j = 0; j < ${inner}; j++) {
                const int32_t target = o * ${kept * inner} + r * ${inner} + j;
                if (r < found) {
                    out0[target] = in0[o * ${size * inner} + first[r] * ${inner} + j];
                } else {
                    out0[target] = 0;
                }
            }
        }
% if outputs > 1:
        out1[r] = r < found ? first[r] : -1;
% endif
    }
% if outputs > 2:
    for (int32_t k = 0; k < ${size}; k++) {
        int32_t same = 0;
        for (int32_t r = 0; r < found; r++) {
            const int32_t known = first[r];
            int32_t order = 0;
            for (int32_t o = 0; o < ${outer} && order == 0; o++) {
                for (int32_t j = 0; j < ${inner} && order == 0; j++) {
                    const ${type} a = ${element("k")}, b = ${element("known")};
                    order = ${above};
                }
            }
            same = order == 0 ? r : same;
        }
        out2[k] = same;
% if outputs > 3:
        if (same < ${kept}) {
            out3[same]++;
        }
% endif
    }
% endif
