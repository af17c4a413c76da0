/*
 * lzw.h - the compression of GIF (GIF89a, appendix F): codes of 3 to 12 bits, in parts of at most 255 bytes that begin with
 * their length; an empty part ends them.
 */
#ifndef LZW_H
#define LZW_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { LZW_CODES = 4096, LZW_LONGEST = 12 };

/* ------------------------------------------------------------------------------------- decoding */

struct lzw_reader {
    const unsigned char *bytes;
    size_t size, at;
    unsigned part; /* bytes left of the current part */
    uint32_t bits;
    int bit_count;
    int literal;   /* bits of a literal */
    int code_bits; /* bits of the next code */
    int next;      /* the code that is defined next */
    int before;    /* the last code; -1 after a clear code */
    int is_bad;    /* a code that is not defined has been read */
    int is_over;   /* there are no more codes */
    int waiting;   /* values on the stack */
    uint16_t prefix[LZW_CODES];
    unsigned char last[LZW_CODES]; /* the last value that a code stands for */
    unsigned char stack[LZW_CODES + 1];
};

static inline void lzw_clear(struct lzw_reader *reader)
{
    reader->next = (1 << reader->literal) + 2;
    reader->code_bits = reader->literal + 1;
    reader->before = -1;
}

/* Begins at the byte with the size of a literal. Returns 0; -1: the size is invalid. */
static inline int lzw_begin(struct lzw_reader *reader, const unsigned char *bytes, size_t size, size_t at)
{
    if (at >= size || bytes[at] > 8) return -1;
    reader->bytes = bytes;
    reader->size = size;
    reader->at = at + 1;
    reader->part = reader->bits = 0;
    reader->bit_count = reader->is_bad = reader->is_over = reader->waiting = 0;
    /* Some writers state 1 bit, or none, for two colours. */
    reader->literal = bytes[at] < 1 ? 1 : bytes[at];
    for (int i = 0; i < 1 << reader->literal; i++) reader->last[i] = (unsigned char)i;
    lzw_clear(reader);
    return 0;
}

/* Returns the next code; -1: the bytes end. */
static inline int lzw_code(struct lzw_reader *reader)
{
    int code;
    while (reader->bit_count < reader->code_bits) {
        if (reader->part == 0) {
            if (reader->at >= reader->size || reader->bytes[reader->at] == 0) return -1;
            reader->part = reader->bytes[reader->at++];
        }
        if (reader->at >= reader->size) return -1;
        reader->bits |= (uint32_t)reader->bytes[reader->at++] << reader->bit_count;
        reader->bit_count += 8;
        reader->part--;
    }
    code = (int)(reader->bits & ((1u << reader->code_bits) - 1));
    reader->bits >>= reader->code_bits;
    reader->bit_count -= reader->code_bits;
    return code;
}

/* Puts the values of a code on the stack, the first one on top. */
static inline void lzw_expand(struct lzw_reader *reader, int code)
{
    const int clear = 1 << reader->literal, is_new = code == reader->next;
    int from = is_new ? reader->before : code, count = is_new ? 1 : 0; /* a new one ends as it begins */
    while (from > clear) {
        reader->stack[count++] = reader->last[from];
        from = reader->prefix[from];
    }
    reader->stack[count++] = reader->last[from];
    if (is_new) reader->stack[0] = reader->last[from];
    reader->waiting = count;
    if (reader->before >= 0 && reader->next < LZW_CODES) {
        reader->prefix[reader->next] = (uint16_t)reader->before;
        reader->last[reader->next] = reader->last[from];
        if (++reader->next == 1 << reader->code_bits && reader->code_bits < LZW_LONGEST) reader->code_bits++;
    }
    reader->before = code;
}

/* Reads up to `count` values. Returns how many: fewer if the data ends or is damaged. */
static inline int lzw_read(struct lzw_reader *reader, unsigned char *values, int count)
{
    const int clear = 1 << reader->literal;
    int got = 0;
    while (got < count) {
        int code;
        if (reader->waiting > 0) {
            values[got++] = reader->stack[--reader->waiting];
            continue;
        }
        code = reader->is_over ? -1 : lzw_code(reader);
        if (code == clear) {
            lzw_clear(reader);
            continue;
        }
        if (code < 0 || code == clear + 1 || code > reader->next || (reader->before < 0 && code > clear)) {
            reader->is_bad = reader->is_bad || (code >= 0 && code != clear + 1);
            reader->is_over = 1;
            return got;
        }
        lzw_expand(reader, code);
    }
    return got;
}

/* ------------------------------------------------------------------------------------- encoding */

/* Bytes that grow. */
struct bytes {
    unsigned char *start;
    size_t size, room;
    int has_failed; /* there was no memory */
};

static inline void bytes_put(struct bytes *bytes, const void *more, size_t count)
{
    if (count > bytes->room - bytes->size) {
        size_t room = (bytes->size + count) * 2;
        unsigned char *start = bytes->has_failed || room < count ? NULL : realloc(bytes->start, room);
        if (start == NULL) {
            bytes->has_failed = 1;
            return;
        }
        bytes->start = start;
        bytes->room = room;
    }
    memcpy(bytes->start + bytes->size, more, count);
    bytes->size += count;
}

static inline void bytes_put_number(struct bytes *bytes, int number)
{
    const unsigned char both[] = { (unsigned char)number, (unsigned char)(number >> 8) };
    bytes_put(bytes, both, sizeof both);
}

struct lzw_writer {
    struct bytes *out;
    uint32_t bits;
    int bit_count, code_bits, next, length;
    unsigned char part[256]; /* its length, and its bytes */
    /* The codes for a known code and one value more, by that: open addressing. */
    uint32_t keys[2 * LZW_CODES];
    uint16_t codes[2 * LZW_CODES];
};

static inline void lzw_put(struct lzw_writer *writer, int code)
{
    writer->bits |= (uint32_t)code << writer->bit_count;
    for (writer->bit_count += writer->code_bits; writer->bit_count >= 8; writer->bit_count -= 8, writer->bits >>= 8) {
        writer->part[1 + writer->length++] = (unsigned char)writer->bits;
        if (writer->length < 255) continue;
        writer->part[0] = 255;
        bytes_put(writer->out, writer->part, 256);
        writer->length = 0;
    }
}

static inline void lzw_forget(struct lzw_writer *writer, int literal)
{
    memset(writer->codes, 0, sizeof writer->codes);
    writer->next = (1 << literal) + 2;
    writer->code_bits = literal + 1;
}

/* Returns the slot of a code and a value, or a free one for them. */
static inline unsigned lzw_slot(const struct lzw_writer *writer, uint32_t key)
{
    unsigned slot = key * 2654435761u >> 19;
    while (writer->codes[slot] != 0 && writer->keys[slot] != key) slot = (slot + 1) % (2 * LZW_CODES);
    return slot;
}

/* Writes values, each below 1 << literal, with the size of a literal in front. */
static inline void lzw_write(struct lzw_writer *writer, struct bytes *out, const unsigned char *values, size_t count,
                             int literal)
{
    const int clear = 1 << literal;
    const unsigned char size = (unsigned char)literal;
    int code = -1;
    writer->out = out;
    writer->bits = 0;
    writer->bit_count = writer->length = 0;
    lzw_forget(writer, literal);
    bytes_put(out, &size, 1);
    lzw_put(writer, clear);
    for (size_t i = 0; i < count; i++) {
        uint32_t key = (uint32_t)code << 8 | values[i];
        unsigned slot = lzw_slot(writer, key);
        if (code < 0) {
            code = values[i];
        } else if (writer->codes[slot] != 0) {
            code = writer->codes[slot];
        } else {
            lzw_put(writer, code);
            code = values[i];
            if (writer->next < LZW_CODES) {
                /* A reader defines each code one code later, so it grows when this one is used. */
                if (writer->next == 1 << writer->code_bits) writer->code_bits++;
                writer->keys[slot] = key;
                writer->codes[slot] = (uint16_t)writer->next++;
            } else {
                lzw_put(writer, clear);
                lzw_forget(writer, literal);
            }
        }
    }
    if (code >= 0) {
        lzw_put(writer, code);
        if (writer->next == 1 << writer->code_bits && writer->code_bits < LZW_LONGEST) writer->code_bits++;
    }
    lzw_put(writer, clear + 1);
    if (writer->bit_count > 0) writer->part[1 + writer->length++] = (unsigned char)writer->bits;
    writer->part[0] = (unsigned char)writer->length;
    if (writer->length > 0) bytes_put(out, writer->part, 1 + (size_t)writer->length);
    bytes_put(out, "", 1);
}

#endif
