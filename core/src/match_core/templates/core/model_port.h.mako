/* SPDX-License-Identifier: Apache-2.0 */
/* What a platform may supply to ${name}: where constants and code lie, and counters around each node.
 * Everything has a default that does nothing. */
#ifndef ${guard}_PORT_H
#define ${guard}_PORT_H

/* Put before constant arrays, for example a section attribute: of all programs, of this one, by memory. */
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

/* Put before the functions of tasks: of this program, by unit. */
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

/* How often in a row the host's wait may end without a notification until the run is given up. */
#ifndef ${guard}_WAIT_LIMIT
#define ${guard}_WAIT_LIMIT 1000u
#endif

/* What the host gives a unit to launch: the code itself. Where units are separate images, what stands for it there. */
#ifndef MATCH_LOOP
#define MATCH_LOOP(name) name
#endif
% endif

#endif
