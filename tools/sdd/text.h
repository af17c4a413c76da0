/* Growing texts, checked UTF-8, and numbers as people write and read them. */
#ifndef SDD_TOOL_TEXT_H
#define SDD_TOOL_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A text that grows. `data` ends with NUL once something was added; NULL before. Zeroed memory is an empty text. */
struct text {
    char *data;
    size_t size;
    size_t capacity;
};

void text_add(struct text *text, const char *data, size_t size);
void text_puts(struct text *text, const char *string);
void text_putc(struct text *text, char character);
void text_printf(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_vprintf(struct text *text, const char *format, va_list arguments) __attribute__((format(printf, 2, 0)));
void text_add_base64(struct text *text, const uint8_t *data, size_t size);
void text_clear(struct text *text);
void text_free(struct text *text);
const char *text_string(const struct text *text); /* never NULL */

/* Memory that ends the program with a message if there is none. */
void *need(void *memory);
char *need_copy(const char *string);

/* Reads one character of UTF-8 at `data` and stores it. Returns its bytes, or 0 if there is none that is valid. */
size_t utf8_read(const char *data, size_t size, uint32_t *character);

/* A character that must not reach a terminal or a file name: controls, and those that change the direction of text. */
bool is_unsafe_character(uint32_t character);

/* Adds bytes of a server, a URL or a file so that a terminal shows them and obeys none of them. */
void text_add_clean(struct text *text, const char *data, size_t size);

/* Adds as much of a string as fits into a number of columns, with "…" in its middle, and pads it with spaces. */
void text_add_columns(struct text *text, const char *string, size_t columns, bool utf8);

/* "1.2 MiB", in a static buffer of which there are four. */
const char *bytes_text(int64_t bytes);

/* "0:07", "12:31", "3:04:59", in one of the same buffers. */
const char *duration_text(int64_t seconds);

/* Reads "10", "1.5M", "2GiB". Returns false for anything else, and for negative and too large numbers. */
bool parse_bytes(const char *string, int64_t *bytes);

/* Reads "2", "0.5", "300ms", "2m" as milliseconds; seconds without a unit. */
bool parse_duration(const char *string, int64_t *milliseconds);

bool parse_number(const char *string, int64_t minimum, int64_t maximum, int64_t *number);

/* Reads "512x384", "512x", "x384" or "512" (both sides). A side that is left out is 0. */
bool parse_size(const char *string, int32_t *width, int32_t *height);

/* CLOCK_MONOTONIC in microseconds. */
int64_t now_us(void);

#endif
