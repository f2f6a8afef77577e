/* match_diana_digital_copy.h - where the weights of a tile lie in L2. SPDX-License-Identifier: Apache-2.0 */
#ifndef MATCH_DIANA_DIGITAL_COPY_H
#define MATCH_DIANA_DIGITAL_COPY_H

/* The L2 address behind an address in the weight memory. */
const void *match_diana_digital_weights(const void *near);

#endif
