/* copies.c - makes copies of the PULP cluster: copies CALLS KIND PLANES ROWS 0 0 0 0 0, with KIND d for a dense copy, s for
 * rows, p for planes of rows; 0 for nothing but the wait.
 * SPDX-License-Identifier: Apache-2.0 */
#include "match_carfield_pulp.h"
#include "start.h"

static uint8_t near[8], far[8];

__attribute__((used)) int run(char **arguments)
{
    const char kind = arguments[2][0];
    const uint32_t planes = number_of(arguments[3]), rows = number_of(arguments[4]);
    for (uint32_t i = number_of(arguments[1]); i > 0u; i--) {
        if (kind == 'd') {
            match_carfield_pulp_copy_in_1d(near, far, 64u);
        } else if (kind == 's') {
            match_carfield_pulp_copy_in_2d(near, far, rows, 64u, 128u);
        } else if (kind == 'p') {
            match_carfield_pulp_copy_in_3d(near, far, planes, rows, 64u, 128u, 4096u);
        }
        match_carfield_pulp_copy_wait();
    }
    return 0;
}
