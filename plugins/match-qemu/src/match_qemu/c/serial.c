/* SPDX-License-Identifier: Apache-2.0 */
/* serial.c - a board at a serial line. A frame is 'M', its kind, the number of bytes (32 bits, little endian), the
 * bytes, and the CRC-32 of all that follows the 'M'. To the board: Q (who are you), S (a sample), E (no more samples).
 * From it: H (the number of this image), N (the sample was damaged: send it again), O (outputs, then what was
 * counted), T (text), F (an exception), Z (the end, with the status). */
#include "match_serial.h"

#include <stdint.h>

#include "match_board.h"

#ifndef MATCH_IMAGE
#error "MATCH_IMAGE is the number of the image"
#endif

static uint32_t crc, left;

/* The polynomial of IEEE 802.3, bit by bit. */
static void check(uint8_t byte)
{
    crc ^= byte;
    for (uint32_t bit = 0u; bit < 8u; bit++) {
        crc = (crc >> 1) ^ (0xEDB88320u & (0u - (crc & 1u)));
    }
}

static void put(uint8_t byte)
{
    check(byte);
    match_serial_put(byte);
}

static void put_word(uint32_t word)
{
    for (uint32_t i = 0u; i < 4u; i++) {
        put((uint8_t)(word >> (8u * i)));
    }
}

static void send(char kind, const uint8_t *data, uint32_t bytes)
{
    match_serial_put((uint8_t)'M');
    crc = UINT32_MAX;
    put((uint8_t)kind);
    put_word(bytes);
    for (uint32_t i = 0u; i < bytes; i++) {
        put(data[i]);
    }
    put_word(~crc);
}

/* -1 if the line is silent in the middle of a frame. */
static int get(void)
{
    const int byte = match_serial_get();
    if (byte >= 0) {
        check((uint8_t)byte);
    }
    return byte;
}

static int get_word(uint32_t *word)
{
    *word = 0u;
    for (uint32_t i = 0u; i < 4u; i++) {
        const int byte = get();
        if (byte < 0) {
            return -1;
        }
        *word |= (uint32_t)byte << (8u * i);
    }
    return 0;
}

/* Behind the last byte of a frame; 0 if it is whole. */
static int get_end(void)
{
    const uint32_t expected = ~crc;
    uint32_t word;
    return ((get_word(&word) == 0) && (word == expected)) ? 0 : -1;
}

void match_board_start(void)
{
    match_serial_start();
}

int match_board_next(void)
{
    static const uint8_t image[4] = {(uint8_t)MATCH_IMAGE, (uint8_t)(MATCH_IMAGE >> 8), (uint8_t)(MATCH_IMAGE >> 16),
                                     (uint8_t)(MATCH_IMAGE >> 24)};
    for (;;) {
        while (match_serial_get() != 'M') {
        }
        crc = UINT32_MAX;
        const int kind = get();
        if (get_word(&left) != 0) {
            continue;
        }
        if (kind == 'S') {
            return 1;
        }
        if ((left == 0u) && (get_end() == 0)) {
            if (kind == 'E') {
                return 0;
            }
            if (kind == 'Q') {
                send('H', image, 4u);
            }
        }
    }
}

int match_board_receive(void *data, uint32_t bytes)
{
    uint8_t *const place = data;
    int status = (bytes <= left) ? 0 : -1;
    for (uint32_t i = 0u; (status == 0) && (i < bytes); i++) {
        const int byte = get();
        if (byte < 0) {
            status = -1;
        } else {
            place[i] = (uint8_t)byte;
            left--;
        }
    }
    if ((status == 0) && (left == 0u)) {
        status = get_end();
    }
    if (status != 0) {
        left = 0u;
        send('N', place, 0u);
    }
    return status;
}

void match_board_send(const void *data, uint32_t bytes)
{
    send('O', data, bytes);
}

void match_board_say(const char *text)
{
    uint32_t bytes = 0u;
    while (text[bytes] != '\0') {
        bytes++;
    }
    send('T', (const uint8_t *)text, bytes);
}

_Noreturn static void stop(char kind, const uint32_t *words, uint32_t count)
{
    uint8_t bytes[12];
    for (uint32_t i = 0u; i < 4u * count; i++) {
        bytes[i] = (uint8_t)(words[i / 4u] >> (8u * (i % 4u)));
    }
    send(kind, bytes, 4u * count);
    for (;;) {
    }
}

_Noreturn void match_board_end(int status)
{
    const uint32_t words[1] = {(uint32_t)status};
    stop('Z', words, 1u);
}

_Noreturn void match_board_fault(uint32_t kind, uintptr_t address, uintptr_t value)
{
    const uint32_t words[3] = {kind, (uint32_t)address, (uint32_t)value};
    stop('F', words, 3u);
}
