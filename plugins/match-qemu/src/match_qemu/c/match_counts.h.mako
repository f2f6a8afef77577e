/* SPDX-License-Identifier: Apache-2.0 */
/* match_counts.h - counts around each node of the program (MATCH_PROFILE), around the whole run, and around nothing. */
#ifndef MATCH_COUNTS_H
#define MATCH_COUNTS_H

#define MATCH_NODES ${nodes}u
#define MATCH_WHOLE ${nodes}u
#define MATCH_PAIR ${nodes + 1}u
#define MATCH_EMPTY ${nodes + 2}u
#define MATCH_MARKS ${nodes + 3}u

void match_profile_begin(unsigned int node);
void match_profile_end(unsigned int node);
/* Only the first sample is counted. */
void match_counts_freeze(void);
void match_counts_send(void);

#endif
