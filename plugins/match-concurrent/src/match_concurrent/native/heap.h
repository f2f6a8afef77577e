/* Entries in the order of two keys and a number, the least first. */
#ifndef MATCH_HEAP_H
#define MATCH_HEAP_H

#include <stdint.h>

typedef struct {
    int64_t first, second, number;
} entry_t;

typedef struct {
    entry_t *entries;
    int64_t size;
} heap_t;

static int below(entry_t a, entry_t b)
{
    if (a.first != b.first) return a.first < b.first;
    return a.second != b.second ? a.second < b.second : a.number < b.number;
}

static void push(heap_t *heap, int64_t first, int64_t second, int64_t number)
{
    const entry_t entry = {first, second, number};
    int64_t place = heap->size++;
    for (; place > 0 && below(entry, heap->entries[(place - 1) / 2]); place = (place - 1) / 2) {
        heap->entries[place] = heap->entries[(place - 1) / 2];
    }
    heap->entries[place] = entry;
}

static entry_t pop(heap_t *heap)
{
    const entry_t least = heap->entries[0], moved = heap->entries[--heap->size];
    int64_t place = 0;
    for (int64_t child = 1; child < heap->size; child = 2 * place + 1) {
        child += child + 1 < heap->size && below(heap->entries[child + 1], heap->entries[child]);
        if (!below(heap->entries[child], moved)) break;
        heap->entries[place] = heap->entries[child];
        place = child;
    }
    heap->entries[place] = moved;
    return least;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

#endif
