/* SPDX-License-Identifier: Apache-2.0 */
/* match_carfield_${unit}_main.c: what the image of ${unit} does; all of its cores come here from the SDK's start. */
#include "match_carfield_${unit}.h"

int main(void)
{
    match_carfield_${unit}_run();
    return 0;
}
