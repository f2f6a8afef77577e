/* SPDX-License-Identifier: Apache-2.0 */
/* What a platform may supply to side: where constants and code lie, and counters around each node.
 * Everything has a default that does nothing. */
#ifndef SIDE_PORT_H
#define SIDE_PORT_H

/* Put before constant arrays, for example a section attribute: of all programs, of this one, by memory. */
#ifndef MATCH_CONSTANT
#define MATCH_CONSTANT
#endif
#ifndef SIDE_CONST_SECTION
#define SIDE_CONST_SECTION MATCH_CONSTANT
#endif
#ifndef SIDE_HOME_CONST_SECTION
#define SIDE_HOME_CONST_SECTION SIDE_CONST_SECTION
#endif

/* Put before the functions of tasks: of this program, by unit. */
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

/* How often in a row the host's wait may end without a notification until the run is given up. */
#ifndef SIDE_WAIT_LIMIT
#define SIDE_WAIT_LIMIT 1000u
#endif

/* What the host gives a unit to launch: the code itself. Where units are separate images, what stands for it there. */
#ifndef MATCH_LOOP
#define MATCH_LOOP(name) name
#endif

#endif
