/* Reads an image file of any kind that match_image.h lists.
 */
#ifndef MATCH_IMAGE_FILE_H
#define MATCH_IMAGE_FILE_H

#include "match_image.h"
#include "match_image_jp2.h"
#include "match_image_jpeg.h"
#include "match_image_packed.h"
#include "match_image_webp.h"

/* Fills `rgb`; with zeros if the file is not read. */
static inline void match_image_decode(const match_image_t *m)
{
    const uint32_t magic = match_image_be(m, 0u, 4u), digit = match_image_byte(m, 1u) - (uint32_t)'1';
    int is_read = 0;
    if (magic == 0x89504E47u) {
        is_read = match_image_png(m);
    } else if (magic == 0x49492A00u || magic == 0x4D4D002Au) {
        is_read = match_image_tiff(m);
    } else if (magic == 0x52494646u && match_image_be(m, 8u, 4u) == 0x57454250u) {
        is_read = match_image_webp(m);
    } else if (magic == 0x0000000Cu || magic == 0xFF4FFF51u) {
        is_read = match_image_jp2(m);
    } else if (magic >> 16 == 0xFFD8u) {
        is_read = match_image_jpeg(m);
    } else if (magic >> 16 == 0x424Du) {
        is_read = match_image_bmp(m);
    } else if (magic >> 24 == (uint32_t)'P' && digit < 6u) {
        is_read = match_image_pnm(m);
    }
    if (!is_read) {
        memset(m->rgb, 0, 3u * (size_t)m->width * m->height);
    }
}

#endif
