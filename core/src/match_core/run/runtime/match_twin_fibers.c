/* match_twin_fibers.c - fibers, and what the sanitizers want to know about them. SPDX-License-Identifier: Apache-2.0 */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700
#endif
#include "match_twin_fibers.h"

#include "match_twin.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

/* The sanitizer's own swapcontext prints a warning: libc's is used. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#include <dlfcn.h>
#define STACK_BYTES (512u * 1024u)

static int switch_context(ucontext_t *from, const ucontext_t *to) {
    static _Thread_local int (*swap)(ucontext_t *, const ucontext_t *); /* threads may run side by side */
    if (swap == NULL) {
        void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
        void *symbol = libc != NULL ? dlsym(libc, "swapcontext") : NULL;
        if (symbol == NULL) {
            swap = swapcontext;
        } else {
            memcpy(&swap, &symbol, sizeof swap);
        }
    }
    return swap(from, to);
}
#else
#define STACK_BYTES (128u * 1024u)
#define switch_context swapcontext
#endif
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

struct match_twin_fiber {
    void (*entry)(void *);
    void *argument;
    bool ended;
    ucontext_t context, home;  /* home: where it is let run from */
    void *fake_stack;          /* as the address sanitizer knows it */
    const void *home_stack;
    size_t home_stack_bytes;
    void *tsan_fiber, *tsan_home;
    _Alignas(64) uint8_t stack[STACK_BYTES];
};

static _Thread_local match_twin_fiber_t *running;

static void fiber_main(void) {
    match_twin_fiber_t *fiber = running;
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(NULL, &fiber->home_stack, &fiber->home_stack_bytes);
#endif
    fiber->entry(fiber->argument);
    fiber->ended = true;
    match_twin_fiber_yield();
}

void match_twin_fiber_make(match_twin_fiber_t **place, void (*entry)(void *), void *argument) {
    if (*place == NULL) {
        *place = aligned_alloc(_Alignof(match_twin_fiber_t), sizeof **place);
        if (*place == NULL) {
            match_twin_fault("no memory for a core's stack");
        }
    }
    match_twin_fiber_t *fiber = *place;
    fiber->entry = entry;
    fiber->argument = argument;
    fiber->ended = false;
#if defined(__SANITIZE_ADDRESS__)
    __asan_unpoison_memory_region(fiber->stack, STACK_BYTES); /* frames of an earlier fiber */
#endif
#if defined(__SANITIZE_THREAD__)
    fiber->tsan_fiber = __tsan_create_fiber(0);
#endif
    (void)getcontext(&fiber->context);
    fiber->context.uc_stack.ss_sp = fiber->stack;
    fiber->context.uc_stack.ss_size = STACK_BYTES;
    fiber->context.uc_link = NULL;
    makecontext(&fiber->context, fiber_main, 0);
}

bool match_twin_fiber_run(match_twin_fiber_t *fiber) {
    running = fiber;
#if defined(__SANITIZE_ADDRESS__)
    void *own = NULL;
    __sanitizer_start_switch_fiber(&own, fiber->stack, STACK_BYTES);
#endif
#if defined(__SANITIZE_THREAD__)
    fiber->tsan_home = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(fiber->tsan_fiber, 0);
#endif
    (void)switch_context(&fiber->home, &fiber->context);
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(own, NULL, NULL);
#endif
    running = NULL;
    return !fiber->ended;
}

void match_twin_fiber_yield(void) {
    match_twin_fiber_t *fiber = running;
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(fiber->ended ? NULL : &fiber->fake_stack, fiber->home_stack,
                                   fiber->home_stack_bytes);
#endif
#if defined(__SANITIZE_THREAD__)
    __tsan_switch_to_fiber(fiber->tsan_home, 0);
#endif
    (void)switch_context(&fiber->context, &fiber->home);
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(fiber->fake_stack, &fiber->home_stack, &fiber->home_stack_bytes);
#endif
}

void match_twin_fiber_drop(match_twin_fiber_t *fiber) {
#if defined(__SANITIZE_THREAD__)
    __tsan_destroy_fiber(fiber->tsan_fiber);
#else
    (void)fiber;
#endif
}
