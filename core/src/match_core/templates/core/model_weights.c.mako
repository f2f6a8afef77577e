/* SPDX-License-Identifier: Apache-2.0 */
/* ${name}: constants, ${total_bytes} bytes, each in the layout that its unit reads. */
% if any("INFINITY" in constant.definition or "NAN" in constant.definition for constant in constants):
#include <math.h>
% endif
#include <stdint.h>
#include "${name}_port.h"
#include "${name}_tasks.h"

% for constant in constants:
${constant.comment}
${constant.definition}
% endfor
