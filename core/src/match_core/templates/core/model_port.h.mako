/* SPDX-License-Identifier: Apache-2.0 */
/* Macros that a platform may define for ${name}: sections of constants and code, and counters around each node.
 * The defaults do nothing. */
#ifndef ${guard}_PORT_H
#define ${guard}_PORT_H

/* Prefix of constant arrays, for example a section attribute: for all programs, for this program, by memory. */
#ifndef MATCH_CONSTANT
#define MATCH_CONSTANT
#endif
#ifndef ${guard}_CONST_SECTION
#define ${guard}_CONST_SECTION MATCH_CONSTANT
#endif
% for section in const_sections:
#ifndef ${section}
#define ${section} ${guard}_CONST_SECTION
#endif
% endfor

/* Prefix of the functions of tasks: for this program, by unit. */
#ifndef ${guard}_CODE_SECTION
#define ${guard}_CODE_SECTION
#endif
% for section in code_sections.values():
#ifndef ${section}
#define ${section} ${guard}_CODE_SECTION
#endif
% endfor

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
% if queues:

/* The number of successive waits of the host without a notification after which the run is cancelled. */
#ifndef ${guard}_WAIT_LIMIT
#define ${guard}_WAIT_LIMIT 1000u
#endif

/* The object that the host passes to launch: by default the loop itself. Ports with separate images define it. */
#ifndef MATCH_LOOP
#define MATCH_LOOP(name) name
#endif
% endif

#endif
