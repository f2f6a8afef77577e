/* SPDX-License-Identifier: Apache-2.0 */
/* Macros that a platform may define for side: sections of constants and code, and counters around each node.
 * The defaults do nothing. */
#ifndef SIDE_PORT_H
#define SIDE_PORT_H

/* Prefix of constant arrays, for example a section attribute: for all programs, for this program, by memory. */
#ifndef MATCH_CONSTANT
#define MATCH_CONSTANT
#endif
#ifndef SIDE_CONST_SECTION
#define SIDE_CONST_SECTION MATCH_CONSTANT
#endif
#ifndef SIDE_HOME_CONST_SECTION
#define SIDE_HOME_CONST_SECTION SIDE_CONST_SECTION
#endif

/* Prefix of the functions of tasks: for this program, by unit. */
#ifndef SIDE_CODE_SECTION
#define SIDE_CODE_SECTION
#endif
#ifndef SIDE_ARRAY_CODE_SECTION
#define SIDE_ARRAY_CODE_SECTION SIDE_CODE_SECTION
#endif
#ifndef SIDE_HOST_CODE_SECTION
#define SIDE_HOST_CODE_SECTION SIDE_CODE_SECTION
#endif
#ifndef SIDE_OTHER_CODE_SECTION
#define SIDE_OTHER_CODE_SECTION SIDE_CODE_SECTION
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

/* The number of successive waits of the host without a notification after which the run is cancelled. */
#ifndef SIDE_WAIT_LIMIT
#define SIDE_WAIT_LIMIT 1000u
#endif

/* The object that the host passes to launch: by default the loop itself. Ports with separate images define it. */
#ifndef MATCH_LOOP
#define MATCH_LOOP(name) name
#endif

#endif
