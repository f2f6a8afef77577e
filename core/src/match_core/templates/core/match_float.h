/* SPDX-License-Identifier: Apache-2.0 */
/* Included by every file that computes with floating-point numbers. The program's results are those of IEEE 754, each
 * operation rounded once to its own type; options of the compiler that change them are refused or undone here. */
#ifndef MATCH_FLOAT_H
#define MATCH_FLOAT_H

#include <float.h>

#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__) || \
    defined(__NO_SIGNED_ZEROS__) || defined(_M_FP_FAST)
#error "-ffast-math (-Ofast, -funsafe-math-optimizations, /fp:fast) changes this program's results: compile without it"
#endif
#ifdef __FINITE_MATH_ONLY__
#if __FINITE_MATH_ONLY__ > 0
#error "-ffinite-math-only (-ffast-math, -Ofast) changes this program's results: compile without it"
#endif
#endif
/* 16: only _Float16 keeps its own precision, which is that of float16 values in this program. */
#ifdef FLT_EVAL_METHOD
#if (FLT_EVAL_METHOD != 0) && (FLT_EVAL_METHOD != 16)
#error "float results are held in a wider type (x87): compile with -msse2 -mfpmath=sse, or for another machine"
#endif
#endif

/* No product and sum become one fused operation, which rounds once. gcc ignores the standard's pragma; clang with
 * -ffp-contract=fast does too, so build files give -ffp-contract=off. For Thumb-1, whose registers are too few, gcc
 * leaves its first scheduler out, but its pragma would bring it back. */
#if defined(__GNUC__) && !defined(__clang__) && defined(__thumb__) && !defined(__thumb2__)
#pragma GCC optimize("fp-contract=off", "no-schedule-insns")
#elif defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("fp-contract=off")
#else
#pragma STDC FP_CONTRACT OFF
#endif

#endif
