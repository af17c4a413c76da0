#include "json.h"
#include "output.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static void quoted(struct text *line, const char *value, size_t size)
{
    text_putc(line, '"');
    for (size_t i = 0; i < size;) {
        uint32_t character = 0;
        size_t length = utf8_read(value + i, size - i, &character);
        if (length == 0)
            text_puts(line, "\\ufffd");
        else if (character == '"' || character == '\\')
            text_printf(line, "\\%c", (int)character);
        else if (is_unsafe_character(character) && character <= 0xffff) /* a terminal may show the line */
            text_printf(line, "\\u%04x", (unsigned)character);
        else
            text_add(line, value + i, length);
        i += length == 0 ? 1 : length;
    }
    text_putc(line, '"');
}

static void member(struct text *line, const char *name)
{
    char last = line->size > 0 ? line->data[line->size - 1] : '{';
    if (last != '{' && last != '[') text_putc(line, ',');
    if (name == NULL) return;
    quoted(line, name, strlen(name));
    text_putc(line, ':');
}

void json_begin(struct text *line)
{
    text_clear(line);
    text_putc(line, '{');
}

void json_bytes(struct text *line, const char *name, const char *value, size_t size)
{
    member(line, name);
    quoted(line, value, size);
}

void json_string(struct text *line, const char *name, const char *value)
{
    if (value != NULL) json_bytes(line, name, value, strlen(value));
}

void json_number(struct text *line, const char *name, int64_t value)
{
    member(line, name);
    text_printf(line, "%" PRId64, value);
}

void json_real(struct text *line, const char *name, double value)
{
    if (!isfinite(value)) return;
    member(line, name);
    text_printf(line, "%.6g", value);
}

void json_boolean(struct text *line, const char *name, bool value)
{
    member(line, name);
    text_puts(line, value ? "true" : "false");
}

void json_open(struct text *line, const char *name, char bracket)
{
    member(line, name);
    text_putc(line, bracket);
}

void json_close(struct text *line, char bracket) { text_putc(line, bracket); }

void json_end(struct text *line)
{
    text_puts(line, "}\n");
    print_out(line->data, line->size);
    text_clear(line);
}
