/* SPDX-License-Identifier: Apache-2.0 */
/* Macros that a platform may define for golden: sections of constants and code, and counters around each node.
 * The defaults do nothing. */
#ifndef GOLDEN_PORT_H
#define GOLDEN_PORT_H

/* Prefix of constant arrays, for example a section attribute: for all programs, for this program, by memory. */
#ifndef MATCH_CONSTANT
#define MATCH_CONSTANT
#endif
#ifndef GOLDEN_CONST_SECTION
#define GOLDEN_CONST_SECTION MATCH_CONSTANT
#endif
#ifndef GOLDEN_L2_CONST_SECTION
#define GOLDEN_L2_CONST_SECTION GOLDEN_CONST_SECTION
#endif

/* Prefix of the functions of tasks: for this program, by unit. */
#ifndef GOLDEN_CODE_SECTION
#define GOLDEN_CODE_SECTION
#endif
#ifndef GOLDEN_CLUSTER_CODE_SECTION
#define GOLDEN_CLUSTER_CODE_SECTION GOLDEN_CODE_SECTION
#endif
#ifndef GOLDEN_NE16_CODE_SECTION
#define GOLDEN_NE16_CODE_SECTION GOLDEN_CODE_SECTION
#endif

/* With MATCH_PROFILE the program reports when node n starts and ends; the platform supplies both functions. */
#ifdef MATCH_PROFILE
void match_profile_begin(unsigned int node);
void match_profile_end(unsigned int node);
#define MATCH_NODE_BEGIN(n) match_profile_begin(n)
#define MATCH_NODE_END(n) match_profile_end(n)
#else
#define MATCH_NODE_BEGIN(n) ((void)0)
#define MATCH_NODE_END(n) ((void)0)
#endif

#endif
