#include "exif.h"

#include <stdio.h>
#include <string.h>

enum { MOST_FIELDS = 200, LONGEST_VALUE = 200 };

struct block {
    const uint8_t *data;
    size_t size;
    bool little;
};

/* Numbers at an offset; 0 outside the block. */
static uint32_t number_at(const struct block *block, size_t at, size_t bytes)
{
    uint32_t value = 0;
    if (at > block->size || block->size - at < bytes) return 0;
    for (size_t i = 0; i < bytes; i++) value = value << 8 | block->data[at + (block->little ? bytes - 1 - i : i)];
    return value;
}

enum field_type { EXIF_ASCII = 2, EXIF_SHORT = 3, EXIF_LONG = 4, EXIF_RATIONAL = 5 };

static const struct {
    uint16_t tag, type;
    const char *name;
} known[] = {
    { 0x010e, EXIF_ASCII, "ImageDescription" },
    { 0x010f, EXIF_ASCII, "Make" },
    { 0x0110, EXIF_ASCII, "Model" },
    { 0x0131, EXIF_ASCII, "Software" },
    { 0x0132, EXIF_ASCII, "DateTime" },
    { 0x013b, EXIF_ASCII, "Artist" },
    { 0x8298, EXIF_ASCII, "Copyright" },
    { 0x829a, EXIF_RATIONAL, "ExposureTime" },
    { 0x829d, EXIF_RATIONAL, "FNumber" },
    { 0x8827, EXIF_SHORT, "ISO" },
    { 0x9003, EXIF_ASCII, "DateTimeOriginal" },
    { 0x920a, EXIF_RATIONAL, "FocalLength" },
    { 0xa434, EXIF_ASCII, "LensModel" },
};

static void add_ascii(const struct block *block, size_t at, size_t count, struct text *value)
{
    if (at > block->size || block->size - at < count) return;
    size_t length = strnlen((const char *)block->data + at, count);
    while (length > 0 && block->data[at + length - 1] == ' ') length--;
    text_add_clean(value, (const char *)block->data + at, length > LONGEST_VALUE ? LONGEST_VALUE : length);
}

static void add_rational(const struct block *block, size_t at, struct text *value)
{
    uint32_t upper = number_at(block, at, 4), lower = number_at(block, at + 4, 4);
    if (lower == 0) return;
    if (upper > 0 && upper < lower && lower % upper == 0)
        text_printf(value, "1/%u", (unsigned)(lower / upper));
    else
        text_printf(value, "%g", (double)upper / (double)lower);
}

/* Reads the field of 12 bytes at an offset. */
static void read_field(const struct block *block, size_t at, exif_fn each, void *user_data)
{
    uint32_t tag = number_at(block, at, 2), type = number_at(block, at + 2, 2), count = number_at(block, at + 4, 4);
    struct text value = { 0 };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (known[i].tag != tag || known[i].type != type || count == 0) continue;
        if (type == EXIF_ASCII)
            add_ascii(block, count <= 4 ? at + 8 : number_at(block, at + 8, 4), count, &value);
        else if (type == EXIF_RATIONAL)
            add_rational(block, number_at(block, at + 8, 4), &value);
        else
            text_printf(&value, "%u", (unsigned)number_at(block, at + 8, 2));
        if (value.size > 0) each(known[i].name, value.data, user_data);
    }
    text_free(&value);
    if (tag == 0x8825 && type == EXIF_LONG) each("GPS", "recorded", user_data);
}

/* Reads a directory, and that of the Exif fields if `deeper`. */
static void read_directory(const struct block *block, size_t at, bool deeper, exif_fn each, void *user_data)
{
    uint32_t count = number_at(block, at, 2);
    if (count > MOST_FIELDS) count = MOST_FIELDS;
    for (uint32_t i = 0; i < count && at + 14 + i * 12UL <= block->size; i++) {
        size_t field = at + 2 + i * 12UL;
        read_field(block, field, each, user_data);
        if (deeper && number_at(block, field, 2) == 0x8769)
            read_directory(block, number_at(block, field + 8, 4), false, each, user_data);
    }
}

void exif_read(const uint8_t *data, size_t size, exif_fn each, void *user_data)
{
    if (size < 8 || (memcmp(data, "II*\0", 4) != 0 && memcmp(data, "MM\0*", 4) != 0)) return;
    struct block block = { data, size, data[0] == 'I' };
    read_directory(&block, number_at(&block, 4, 4), true, each, user_data);
}

void icc_description(const uint8_t *data, size_t size, struct text *text)
{
    struct block block = { data, size, false };
    uint32_t tags = number_at(&block, 128, 4);
    for (uint32_t i = 0; i < tags && i < MOST_FIELDS; i++) {
        size_t entry = 132 + i * 12UL, at = number_at(&block, entry + 4, 4);
        if (number_at(&block, entry, 4) != 0x64657363 || at >= size) continue; /* "desc" */
        uint32_t type = number_at(&block, at, 4);
        if (type == 0x64657363) { /* version 2: ASCII */
            add_ascii(&block, at + 12, number_at(&block, at + 8, 4), text);
        } else if (type == 0x6d6c7563) { /* "mluc", version 4: the first text, in UTF-16 */
            size_t length = number_at(&block, at + 20, 4), from = at + number_at(&block, at + 24, 4);
            for (size_t j = 0; j + 1 < length && j < LONGEST_VALUE; j += 2) {
                uint32_t unit = number_at(&block, from + j, 2);
                text_putc(text, unit >= 0x20 && unit < 0x7f ? (char)unit : '?');
            }
        }
        return;
    }
}
