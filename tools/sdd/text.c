#include "text.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <wchar.h>

void *need(void *memory)
{
    if (memory == NULL) {
        fputs("sdd: out of memory\n", stderr);
        abort();
    }
    return memory;
}

char *need_copy(const char *string) { return need(strdup(string)); }

void text_add(struct text *text, const char *data, size_t size)
{
    if (text->capacity - text->size <= size) {
        text->capacity = (text->capacity + size + 64) * 2;
        text->data = need(realloc(text->data, text->capacity));
    }
    if (size > 0) memcpy(text->data + text->size, data, size);
    text->size += size;
    text->data[text->size] = 0;
}

void text_puts(struct text *text, const char *string) { text_add(text, string, strlen(string)); }

void text_putc(struct text *text, char character) { text_add(text, &character, 1); }

void text_vprintf(struct text *text, const char *format, va_list arguments)
{
    char *line = NULL;
    int size = vasprintf(&line, format, arguments);
    if (size < 0) need(NULL);
    text_add(text, line, (size_t)size);
    free(line);
}

void text_printf(struct text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    text_vprintf(text, format, arguments);
    va_end(arguments);
}

void text_add_base64(struct text *text, const uint8_t *data, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < size; i += 3) {
        uint32_t bits = (uint32_t)data[i] << 16 | (i + 1 < size ? (uint32_t)data[i + 1] << 8 : 0) |
                        (i + 2 < size ? data[i + 2] : 0U);
        char four[4] = { digits[bits >> 18], digits[bits >> 12 & 63], i + 1 < size ? digits[bits >> 6 & 63] : '=',
                         i + 2 < size ? digits[bits & 63] : '=' };
        text_add(text, four, 4);
    }
}

void text_clear(struct text *text)
{
    text->size = 0;
    if (text->data != NULL) text->data[0] = 0;
}

void text_free(struct text *text)
{
    free(text->data);
    *text = (struct text){ 0 };
}

const char *text_string(const struct text *text) { return text->data == NULL ? "" : text->data; }

size_t utf8_read(const char *data, size_t size, uint32_t *character)
{
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    const unsigned char *bytes = (const unsigned char *)data;
    if (size == 0) return 0;
    size_t length = bytes[0] < 0x80       ? 1
                    : bytes[0] >> 5 == 6  ? 2
                    : bytes[0] >> 4 == 14 ? 3
                    : bytes[0] >> 3 == 30 ? 4
                                          : 0;
    if (length == 0 || length > size) return 0;
    uint32_t value = length == 1 ? bytes[0] : bytes[0] & (0x7fU >> length);
    for (size_t i = 1; i < length; i++) {
        if ((bytes[i] & 0xc0) != 0x80) return 0;
        value = value << 6 | (bytes[i] & 0x3f);
    }
    if (value < least[length] || value > 0x10ffff || (value >= 0xd800 && value < 0xe000)) return 0;
    *character = value;
    return length;
}

bool is_unsafe_character(uint32_t character)
{
    return character < 0x20 || (character >= 0x7f && character < 0xa0) || character == 0x61c || character == 0x200e ||
           character == 0x200f || (character >= 0x2028 && character <= 0x202e) ||
           (character >= 0x2066 && character <= 0x2069) || character == 0xfeff;
}

void text_add_clean(struct text *text, const char *data, size_t size)
{
    for (size_t i = 0; i < size;) {
        uint32_t character = 0;
        size_t length = utf8_read(data + i, size - i, &character);
        if (length == 0) {
            text_puts(text, "?");
            i++;
            continue;
        }
        if (is_unsafe_character(character))
            text_puts(text, "?");
        else
            text_add(text, data + i, length);
        i += length;
    }
}

static size_t character_columns(uint32_t character)
{
    int columns = wcwidth((wchar_t)character);
    return columns < 0 ? 1 : (size_t)columns;
}

/* Returns the columns that a text takes on a terminal. */
static size_t text_columns(const char *string)
{
    size_t columns = 0, size = strlen(string);
    for (size_t i = 0; i < size;) {
        uint32_t character = '?';
        size_t length = utf8_read(string + i, size - i, &character);
        columns += character_columns(character);
        i += length == 0 ? 1 : length;
    }
    return columns;
}

/* Bytes at the start of a string that take at most so many columns. */
static size_t bytes_of_columns(const char *string, size_t columns, size_t *taken)
{
    size_t i = 0, size = strlen(string);
    *taken = 0;
    while (i < size) {
        uint32_t character = '?';
        size_t length = utf8_read(string + i, size - i, &character), more = character_columns(character);
        if (*taken + more > columns) break;
        *taken += more;
        i += length == 0 ? 1 : length;
    }
    return i;
}

void text_add_columns(struct text *text, const char *string, size_t columns, bool utf8)
{
    size_t all = text_columns(string), taken = 0;
    if (all <= columns) {
        text_puts(text, string);
        taken = all;
    } else if (columns > 0) {
        size_t tail = (columns - 1) / 3, skipped = 0;
        text_add(text, string, bytes_of_columns(string, columns - 1 - tail, &taken));
        text_puts(text, utf8 ? "\u2026" : "~");
        /* The end of the name is as telling as its start: numbers and the extension are there. */
        const char *end = string + bytes_of_columns(string, all - tail, &skipped);
        text_puts(text, end);
        taken += 1 + text_columns(end);
    }
    for (; taken < columns; taken++) text_putc(text, ' ');
}

static char *next_buffer(void)
{
    static char buffers[4][32];
    static unsigned next;
    return buffers[next++ % 4];
}

const char *bytes_text(int64_t bytes)
{
    static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB" };
    char *buffer = next_buffer();
    double value = (double)bytes;
    size_t unit = 0;
    while (value >= 999.5 && unit + 1 < sizeof units / sizeof *units) {
        value /= 1024;
        unit++;
    }
    snprintf(buffer, 32, unit == 0 || value >= 99.95 ? "%.0f %s" : "%.1f %s", value, units[unit]);
    return buffer;
}

const char *duration_text(int64_t seconds)
{
    char *buffer = next_buffer();
    if (seconds < 0 || seconds > 359999)
        snprintf(buffer, 32, "-:--");
    else if (seconds < 3600)
        snprintf(buffer, 32, "%" PRId64 ":%02" PRId64, seconds / 60, seconds % 60);
    else
        snprintf(buffer, 32, "%" PRId64 ":%02" PRId64 ":%02" PRId64, seconds / 3600, seconds / 60 % 60, seconds % 60);
    return buffer;
}

/* Reads digits with an optional fraction; no sign, exponent, hexadecimal digits or white space as strtod() takes. */
static bool parse_decimal(const char *string, double *value, const char **rest)
{
    size_t digits = strspn(string, "0123456789"), all = digits;
    if (string[digits] == '.') all += 1 + strspn(string + digits + 1, "0123456789");
    if (digits == 0 || all > 30) return false;
    *value = 0;
    double unit = 1;
    for (size_t i = 0; i < all; i++) {
        if (i == digits) continue;
        if (i > digits)
            *value += (string[i] - '0') * (unit /= 10);
        else
            *value = *value * 10 + (string[i] - '0');
    }
    *rest = string + all;
    return true;
}

bool parse_bytes(const char *string, int64_t *bytes)
{
    static const char units[] = "kmgt";
    double value = 0;
    const char *rest = string;
    if (!parse_decimal(string, &value, &rest)) return false;
    if (*rest != 0) {
        const char *unit = strchr(units, *rest | 0x20);
        if (unit != NULL) {
            for (int i = 0; i <= unit - units; i++) value *= 1024;
            rest++;
            if (*rest == 'i') rest++;
        }
        if (*rest == 'B') rest++;
        if (*rest != 0) return false;
    }
    if (value >= 9.2e18) return false;
    *bytes = (int64_t)value;
    return true;
}

bool parse_duration(const char *string, int64_t *milliseconds)
{
    static const struct {
        const char *name;
        double milliseconds;
    } units[] = { { "", 1000 }, { "s", 1000 }, { "ms", 1 }, { "m", 60000 }, { "h", 3600000 }, { "d", 86400000 } };
    double value = 0;
    const char *rest = string;
    if (!parse_decimal(string, &value, &rest)) return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(rest, units[i].name) != 0) continue;
        value = round(value * units[i].milliseconds);
        if (value > 3.1536e12) return false; /* a century */
        *milliseconds = (int64_t)value;
        return true;
    }
    return false;
}

bool parse_number(const char *string, int64_t minimum, int64_t maximum, int64_t *number)
{
    char *end = NULL;
    errno = 0;
    if (string[0] < '0' || string[0] > '9') return false;
    long long value = strtoll(string, &end, 10);
    if (errno != 0 || *end != 0 || value < minimum || value > maximum) return false;
    *number = value;
    return true;
}

static bool parse_side(const char *string, size_t size, int32_t *side)
{
    if (size == 0) return true;
    if (size > 9 || strspn(string, "0123456789") < size) return false;
    *side = (int32_t)strtol(string, NULL, 10);
    return *side > 0;
}

bool parse_size(const char *string, int32_t *width, int32_t *height)
{
    const char *cross = strpbrk(string, "xX");
    *width = *height = 0;
    if (cross == NULL) {
        if (!parse_side(string, strlen(string), width) || *width == 0) return false;
        *height = *width;
        return true;
    }
    return parse_side(string, (size_t)(cross - string), width) && parse_side(cross + 1, strlen(cross + 1), height) &&
           (*width > 0 || *height > 0);
}

int64_t now_us(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000 + time.tv_nsec / 1000;
}
