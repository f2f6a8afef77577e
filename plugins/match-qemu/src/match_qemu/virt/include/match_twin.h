/* match_twin.h - faults of the twin's RedMulE. SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_TWIN_H
#define MATCH_TWIN_H

_Noreturn void match_twin_fault(const char *message);
_Noreturn void match_twin_faultf(const char *format, ...);

#endif
