/*
 * svg.h - what an SVG states about itself, found by one pass over its text that takes no memory: its size by the rules
 * of CSS for replaced elements, what its drawing takes, and how it could harm a parser. Whether it is valid XML is for
 * librsvg to say; what is cut off, and what grows, is found here.
 */
#ifndef SVG_H
#define SVG_H

#include "coder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How many bytes a file may gain by its entities, and how many elements may be inside each other. librsvg goes from one to
   the next by recursion. */
enum { SVG_MOST_EXPANDED = 1 << 20, SVG_MOST_DEPTH = 256 };

struct svg {
    const char *at, *end;
    double width, height; /* its own size, in pixels of CSS */
    size_t elements, primitives, layers, image_bytes;
    double image_pixels;
    size_t longest_entity, expanded;
    /* What the root states; 0 where it states nothing that counts. */
    double root_width, root_height, box_width, box_height, font_size;
    int has_zero, has_no_ratio;
};

/* ---------------------------------------------------------------------------------------- text */

static inline int svg_is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

static inline void svg_skip_space(struct svg *svg)
{
    while (svg->at < svg->end && svg_is_space(*svg->at)) svg->at++;
}

static inline int svg_begins(const struct svg *svg, const char *text)
{
    size_t length = strlen(text);
    return (size_t)(svg->end - svg->at) >= length && memcmp(svg->at, text, length) == 0;
}

/* Whether the rest is only the beginning of a text. */
static inline int svg_may_begin(const struct svg *svg, const char *text)
{
    size_t length = (size_t)(svg->end - svg->at);
    return length < strlen(text) && memcmp(svg->at, text, length) == 0;
}

static inline sdd_status svg_skip_past(struct svg *svg, const char *text)
{
    for (; svg->at < svg->end; svg->at++) {
        svg->at = memchr(svg->at, text[0], (size_t)(svg->end - svg->at));
        if (svg->at == NULL) break;
        if (!svg_begins(svg, text)) continue;
        svg->at += strlen(text);
        return SDD_OK;
    }
    svg->at = svg->end;
    return SDD_ERROR_INCOMPLETE;
}

/* Skips a text in quotes, with the quote that it begins with. */
static inline sdd_status svg_quoted(struct svg *svg, const char **text, size_t *length)
{
    const char *begin = svg->at + 1;
    if (svg->at >= svg->end) return SDD_ERROR_INCOMPLETE;
    if (*svg->at != '"' && *svg->at != '\'') return SDD_ERROR_BAD_IMAGE_DATA;
    svg->at = begin < svg->end ? memchr(begin, begin[-1], (size_t)(svg->end - begin)) : NULL;
    if (svg->at == NULL) return svg->at = svg->end, SDD_ERROR_INCOMPLETE;
    *text = begin;
    *length = (size_t)(svg->at++ - begin);
    return SDD_OK;
}

static inline const char *svg_name(struct svg *svg, size_t *length)
{
    const char *begin = svg->at;
    while (svg->at < svg->end && !svg_is_space(*svg->at) && memchr("<>/=\"'&[]%;", *svg->at, 11) == NULL) svg->at++;
    *length = (size_t)(svg->at - begin);
    return begin;
}

static inline int svg_is(const char *text, size_t length, const char *other)
{
    return length == strlen(other) && memcmp(text, other, length) == 0;
}

/* Counts what the references to entities of a text may become. */
static inline sdd_status svg_count_references(struct svg *svg, const char *text, size_t length)
{
    const char *end = text + length;
    if (svg->longest_entity == 0) return SDD_OK;
    while ((text = memchr(text, '&', (size_t)(end - text))) != NULL) {
        svg->expanded += svg->longest_entity;
        if (svg->expanded > SVG_MOST_EXPANDED) return SDD_DETAIL_IMAGE_UNSUPPORTED;
        text++;
    }
    return SDD_OK;
}

/* -------------------------------------------------------------------------------------- prolog */

/* Reads a declaration of an entity. One that refers to another, or to a file, and one that has elements, is refused:
   only such can grow, or show what is elsewhere. */
static inline sdd_status svg_entity(struct svg *svg)
{
    const char *text;
    size_t length;
    sdd_status status;
    svg_skip_space(svg);
    (void)svg_name(svg, &length);
    if (svg->at < svg->end && length == 0) return SDD_DETAIL_IMAGE_UNSUPPORTED; /* "%" */
    svg_skip_space(svg);
    if (svg->at < svg->end && *svg->at != '"' && *svg->at != '\'') return SDD_DETAIL_IMAGE_UNSUPPORTED; /* "SYSTEM" */
    status = svg_quoted(svg, &text, &length);
    if (status != SDD_OK) return status;
    if (memchr(text, '&', length) != NULL || memchr(text, '<', length) != NULL || memchr(text, '%', length) != NULL)
        return SDD_DETAIL_IMAGE_UNSUPPORTED;
    if (length + 1 > svg->longest_entity) svg->longest_entity = length + 1;
    return svg_skip_past(svg, ">");
}

static inline sdd_status svg_declarations(struct svg *svg)
{
    sdd_status status = SDD_OK;
    while (status == SDD_OK) {
        svg_skip_space(svg);
        if (svg->at >= svg->end) return SDD_ERROR_INCOMPLETE;
        if (*svg->at == ']') return svg->at++, SDD_OK;
        if (*svg->at == '%') return SDD_DETAIL_IMAGE_UNSUPPORTED;
        if (svg_begins(svg, "<!--")) {
            status = svg_skip_past(svg, "-->");
        } else if (svg_begins(svg, "<?")) {
            status = svg_skip_past(svg, "?>");
        } else if (svg_begins(svg, "<!ENTITY")) {
            svg->at += 8;
            status = svg_entity(svg);
        } else {
            const char *text;
            size_t length;
            while (svg->at < svg->end && *svg->at != '>' && status == SDD_OK) {
                if (*svg->at == '"' || *svg->at == '\'') {
                    status = svg_quoted(svg, &text, &length);
                    if (status == SDD_OK && memchr(text, '&', length) != NULL) status = SDD_DETAIL_IMAGE_UNSUPPORTED;
                } else {
                    svg->at++;
                }
            }
            if (status == SDD_OK) status = svg_skip_past(svg, ">");
        }
    }
    return status;
}

static inline sdd_status svg_document_type(struct svg *svg)
{
    const char *text;
    size_t length;
    sdd_status status = SDD_OK;
    while (status == SDD_OK) {
        if (svg->at >= svg->end) return SDD_ERROR_INCOMPLETE;
        switch (*svg->at) {
        case '>': return svg->at++, SDD_OK;
        case '[': svg->at++, status = svg_declarations(svg); break;
        case '"':
        case '\'': status = svg_quoted(svg, &text, &length); break;
        default: svg->at++;
        }
    }
    return status;
}

/* Refuses encodings in which the bytes below 128 are not those of ASCII: this file would read another text than
   librsvg. */
static inline sdd_status svg_declaration(struct svg *svg)
{
    static const char *const known[] = { "utf-8", "utf8", "us-ascii", "ascii", "iso-8859-", "windows-125", "latin" };
    const char *begin = svg->at, *encoding = NULL;
    sdd_status status = svg_skip_past(svg, "?>");
    if (status != SDD_OK) return status;
    for (const char *at = begin; at + 9 < svg->at; at++)
        if (memcmp(at, "encoding", 8) == 0) encoding = at + 8;
    if (encoding == NULL) return SDD_OK;
    while (encoding < svg->at && (svg_is_space(*encoding) || strchr("=\"'", *encoding) != NULL)) encoding++;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        size_t length = strlen(known[i]), at = 0;
        if ((size_t)(svg->at - encoding) < length) continue;
        while (at < length && (encoding[at] | (encoding[at] >= 'A' && encoding[at] <= 'Z' ? 0x20 : 0)) == known[i][at])
            at++;
        if (at == length) return SDD_OK;
    }
    return SDD_DETAIL_IMAGE_UNSUPPORTED;
}

/* Skips a comment or a processing instruction, if there is one.
   Returns SDD_ERROR_NOT_FOUND if there is none. */
static inline sdd_status svg_skip_aside(struct svg *svg)
{
    if (svg_begins(svg, "<!--")) return svg->at += 4, svg_skip_past(svg, "-->");
    if (svg_begins(svg, "<?xml") && svg->end - svg->at > 5 && svg_is_space(svg->at[5])) return svg_declaration(svg);
    if (svg_begins(svg, "<?")) return svg_skip_past(svg, "?>");
    return SDD_ERROR_NOT_FOUND;
}

/* Goes to the first element, which is to be "svg". Returns SDD_ERROR_INCOMPLETE if the text ends before it,
   SDD_ERROR_UNSUPPORTED if it is no SVG. */
static inline sdd_status svg_prolog(struct svg *svg)
{
    static const char *const names[] = { "<svg", "<svg:svg" };
    if (svg_may_begin(svg, "\xef\xbb\xbf")) return SDD_ERROR_INCOMPLETE;
    if (svg_begins(svg, "\xef\xbb\xbf")) svg->at += 3;
    for (;;) {
        sdd_status status;
        svg_skip_space(svg);
        status = svg_skip_aside(svg);
        if (status == SDD_ERROR_NOT_FOUND && svg_begins(svg, "<!DOCTYPE")) {
            svg->at += 9;
            status = svg_document_type(svg);
        }
        if (status == SDD_ERROR_NOT_FOUND) break;
        if (status != SDD_OK) return status;
    }
    for (size_t i = 0; i < 2; i++) {
        size_t length = strlen(names[i]);
        if (svg_begins(svg, names[i]) && svg->at + length == svg->end) return SDD_ERROR_INCOMPLETE;
        if (svg_begins(svg, names[i]) && (svg_is_space(svg->at[length]) || strchr("/>", svg->at[length]) != NULL))
            return SDD_OK;
    }
    if (svg_may_begin(svg, "<svg") || svg_may_begin(svg, "<svg:svg") || svg_may_begin(svg, "<!--") ||
        svg_may_begin(svg, "<!DOCTYPE"))
        return SDD_ERROR_INCOMPLETE;
    return SDD_ERROR_UNSUPPORTED;
}

/* ---------------------------------------------------------------------------------------- size */

/* Reads a number by which a text begins, in any locale.
   Returns what is behind it; NULL if there is none. */
static inline const char *svg_number(const char *text, const char *end, double *number)
{
    double sign = 1, value = 0, scale = 1;
    int digits = 0;
    if (text < end && (*text == '+' || *text == '-')) sign = *text++ == '-' ? -1 : 1;
    for (; text < end && *text >= '0' && *text <= '9'; text++, digits++) value = value * 10 + (*text - '0');
    if (text < end && *text == '.')
        for (text++; text < end && *text >= '0' && *text <= '9'; text++, digits++)
            value += (*text - '0') * (scale /= 10);
    if (digits == 0) return NULL;
    if (end - text > 1 && (*text == 'e' || *text == 'E') &&
        (text[1] == '-' || text[1] == '+' || (text[1] >= '0' && text[1] <= '9'))) {
        const char *at = text + 1;
        int is_small = *at == '-', exponent = 0;
        if (*at == '-' || *at == '+') at++;
        if (at < end && *at >= '0' && *at <= '9') {
            for (; at < end && *at >= '0' && *at <= '9'; at++)
                exponent = exponent < 1000 ? exponent * 10 + (*at - '0') : exponent;
            value *= pow(10, is_small ? -exponent : exponent);
            text = at;
        }
    }
    *number = sign * value;
    return text;
}

/* Returns a length in pixels of CSS; 0 if it is none, or relative to what surrounds the picture; -1 if it is zero. */
static inline double svg_length(const char *text, size_t length, double font_size)
{
    static const struct {
        const char *name;
        double pixels;
    } units[] = { { "", 1 },           { "px", 1 },         { "in", 96 },        { "cm", 96 / 2.54 },
                  { "mm", 96 / 25.4 }, { "q", 96 / 101.6 }, { "pt", 96 / 72.0 }, { "pc", 16 },
                  { "em", 0 },         { "ex", -0.5 },      { "rem", 0 },        { "ch", -0.5 } };
    const char *end = text + length;
    double number;
    char unit[4] = "";
    while (text < end && svg_is_space(*text)) text++;
    while (end > text && svg_is_space(end[-1])) end--;
    text = svg_number(text, end, &number);
    if (text == NULL || end - text > 3 || number < 0 || !(number < 1e12)) return 0;
    for (size_t i = 0; text + i < end; i++) unit[i] = (char)(text[i] | 0x20);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(unit, units[i].name) != 0) continue;
        if (number == 0) return -1;
        if (units[i].pixels == 0) return number * font_size;
        return units[i].pixels < 0 ? number * font_size / 2 : number * units[i].pixels;
    }
    return 0;
}

/* Reads the third and fourth number of a view box. One that is not positive does not count. */
static inline void svg_view_box(struct svg *svg, const char *text, size_t length)
{
    const char *end = text + length;
    double numbers[4];
    for (int i = 0; i < 4; i++) {
        while (text < end && (svg_is_space(*text) || *text == ',')) text++;
        text = svg_number(text, end, &numbers[i]);
        if (text == NULL) return;
    }
    if (numbers[2] > 0 && numbers[3] > 0 && numbers[2] < 1e30 && numbers[3] < 1e30)
        svg->box_width = numbers[2], svg->box_height = numbers[3];
}

static inline void svg_set_length(struct svg *svg, double *to, const char *text, size_t length)
{
    double pixels = svg_length(text, length, svg->font_size);
    if (pixels < 0) svg->has_zero = 1;
    *to = pixels > 0 ? pixels : 0;
}

/* Determines the size: what the root states; what it leaves open, from the view box; and else 300 x 150 pixels, or the
   largest size within that of the view box's shape (CSS Images 3, 4.3 and CSS 2.2, 10.3.2). */
static inline void svg_settle_size(struct svg *svg)
{
    double width = svg->root_width, height = svg->root_height, ratio = 0;
    if (svg->box_width > 0 && !svg->has_no_ratio) ratio = svg->box_width / svg->box_height;
    if (width == 0 && height == 0) {
        width = 300, height = 150;
        if (ratio > 2)
            height = 300 / ratio;
        else if (ratio > 0)
            width = 150 * ratio;
    } else if (width == 0) {
        width = ratio > 0 ? height * ratio : 300;
    } else if (height == 0) {
        height = ratio > 0 ? width / ratio : 150;
    }
    svg->width = width;
    svg->height = height;
}

/* -------------------------------------------------------------------------------- embedded images */

/* Reads the text of a "data:" URL in base64, with references to characters. */
struct svg_base64 {
    const char *at, *end;
    unsigned bits, count;
};

/* Returns the next byte; -1 at the end. */
static inline int svg_next_byte(struct svg_base64 *from)
{
    while (from->count < 8) {
        int c, value;
        if (from->at >= from->end) return -1;
        c = (unsigned char)*from->at++;
        if (c == '&') { /* "&#10;" and the like, which editors make of the ends of lines */
            const char *end = memchr(from->at, ';', (size_t)(from->end - from->at));
            if (end == NULL) return -1;
            from->at = end + 1;
            continue;
        }
        if (c >= 'A' && c <= 'Z')
            value = c - 'A';
        else if (c >= 'a' && c <= 'z')
            value = c - 'a' + 26;
        else if (c >= '0' && c <= '9')
            value = c - '0' + 52;
        else if (c == '+' || c == '/')
            value = c == '+' ? 62 : 63;
        else if (svg_is_space((char)c))
            continue;
        else
            return -1;
        from->bits = (from->bits << 6 | (unsigned)value) & 0xffff;
        from->count += 6;
    }
    from->count -= 8;
    return (int)(from->bits >> from->count & 0xff);
}

static inline int svg_skip_bytes(struct svg_base64 *from, int count)
{
    while (count-- > 0)
        if (svg_next_byte(from) < 0) return 0;
    return 1;
}

/* Returns a number with the high byte first; -1 if the text ends. */
static inline double svg_next_number(struct svg_base64 *from, int bytes)
{
    double made = 0;
    while (bytes-- > 0) {
        int byte = svg_next_byte(from);
        if (byte < 0) return -1;
        made = made * 256 + byte;
    }
    return made;
}

/* Returns the pixels of a JPEG (ITU-T T.81, B.2.2), whose first two bytes are read; -1 if there is no frame header. */
static inline double svg_jpeg_pixels(struct svg_base64 *from)
{
    for (;;) {
        int marker = svg_next_byte(from), length;
        double width, height;
        if (marker != 0xff) return -1;
        while (marker == 0xff) marker = svg_next_byte(from);
        length = (int)svg_next_number(from, 2);
        if (marker < 0xc0 || length < 2) return -1;
        if (marker > 0xcf || marker == 0xc4 || marker == 0xc8 || marker == 0xcc) {
            if (!svg_skip_bytes(from, length - 2)) return -1;
            continue;
        }
        if (!svg_skip_bytes(from, 1)) return -1;
        height = svg_next_number(from, 2);
        width = svg_next_number(from, 2);
        return width < 0 ? -1 : width * height;
    }
}

/* Returns the pixels of a PNG or JPEG; -1 for anything else. */
static inline double svg_pixels_of(struct svg_base64 from)
{
    int first = svg_next_byte(&from), second = svg_next_byte(&from);
    double width, height;
    if (first == 0xff && second == 0xd8) return svg_jpeg_pixels(&from);
    if (first != 0x89 || second != 'P' || !svg_skip_bytes(&from, 14)) return -1;
    width = svg_next_number(&from, 4);
    height = svg_next_number(&from, 4);
    return height < 0 ? -1 : width * height;
}

/* Looks at a reference. One to another place than this file is left to librsvg, which follows none; "data:" URLs may
   only be PNGs and JPEGs in base64, whose pixels are counted. */
static inline sdd_status svg_reference(struct svg *svg, const char *text, size_t length)
{
    static const char scheme[] = "data:";
    const char *end = text + length, *comma;
    double pixels;
    struct svg_base64 from = { 0 };
    while (text < end && (unsigned char)*text <= ' ') text++;
    /* Who hides the scheme behind a reference hides more than that. */
    for (size_t i = 0; i < 5; i++) {
        if (text + i < end && text[i] == '&') return SDD_DETAIL_IMAGE_UNSUPPORTED;
        if (text + i >= end || (text[i] | 0x20) != (scheme[i] | 0x20)) return SDD_OK;
    }
    comma = memchr(text, ',', (size_t)(end - text));
    if (comma == NULL || comma - text < 7 || memcmp(comma - 7, ";base64", 7) != 0) return SDD_DETAIL_IMAGE_UNSUPPORTED;
    from.at = comma + 1;
    from.end = end;
    pixels = svg_pixels_of(from);
    if (pixels < 0) return SDD_DETAIL_IMAGE_UNSUPPORTED;
    svg->image_pixels += pixels;
    svg->image_bytes += length;
    return SDD_OK;
}

/* ------------------------------------------------------------------------------------- elements */

static inline sdd_status svg_attribute(struct svg *svg, const char *name, size_t size, const char *text, size_t length)
{
    static const char *const layered[] = { "opacity",        "mask",      "filter", "clip-path",
                                           "mix-blend-mode", "isolation", "style",  "class" };
    const char *colon = memchr(name, ':', size);
    size_t local = colon != NULL ? size - (size_t)(colon + 1 - name) : size;
    sdd_status status = svg_count_references(svg, text, length);
    if (status != SDD_OK) return status;
    if (svg_is(colon != NULL ? colon + 1 : name, local, "href")) return svg_reference(svg, text, length);
    for (size_t i = 0; i < sizeof layered / sizeof *layered; i++)
        if (svg_is(name, size, layered[i])) svg->layers++;
    if (svg->elements > 1) return SDD_OK;
    if (svg_is(name, size, "width")) svg_set_length(svg, &svg->root_width, text, length);
    if (svg_is(name, size, "height")) svg_set_length(svg, &svg->root_height, text, length);
    if (svg_is(name, size, "viewBox")) svg_view_box(svg, text, length);
    if (svg_is(name, size, "preserveAspectRatio")) svg->has_no_ratio = length >= 4 && memcmp(text, "none", 4) == 0;
    return SDD_OK;
}

/* Reads the attributes of an element, up to its ">". */
static inline sdd_status svg_attributes(struct svg *svg, int *is_empty)
{
    const char *text;
    size_t size, length;
    for (;;) {
        const char *name;
        sdd_status status;
        svg_skip_space(svg);
        if (svg->at >= svg->end) return SDD_ERROR_INCOMPLETE;
        *is_empty = *svg->at == '/';
        if (*is_empty) svg->at++;
        if (svg->at >= svg->end) return SDD_ERROR_INCOMPLETE;
        if (*svg->at == '>') {
            svg->at++;
            return SDD_OK;
        }
        name = svg_name(svg, &size);
        svg_skip_space(svg);
        if (svg->at >= svg->end) return SDD_ERROR_INCOMPLETE;
        if (*is_empty || size == 0 || *svg->at != '=') return SDD_ERROR_BAD_IMAGE_DATA;
        svg->at++;
        svg_skip_space(svg);
        status = svg_quoted(svg, &text, &length);
        if (status == SDD_OK) status = svg_attribute(svg, name, size, text, length);
        if (status != SDD_OK) return status;
    }
}

static inline sdd_status svg_element(struct svg *svg, size_t *depth)
{
    const char *name;
    size_t length;
    int is_empty = 0;
    sdd_status status;
    if (svg_begins(svg, "</")) {
        *depth -= 1;
        return svg_skip_past(svg, ">");
    }
    svg->at++;
    name = svg_name(svg, &length);
    if (svg->at >= svg->end) return SDD_ERROR_INCOMPLETE;
    if (length == 0) return SDD_ERROR_BAD_IMAGE_DATA;
    svg->elements++;
    if (length > 2 && memcmp(name, "fe", 2) == 0) svg->primitives++;
    status = svg_attributes(svg, &is_empty);
    if (!is_empty) *depth += 1;
    return status == SDD_OK && *depth > SVG_MOST_DEPTH ? SDD_DETAIL_IMAGE_UNSUPPORTED : status;
}

/* Reads the whole text. Returns SDD_ERROR_INCOMPLETE if it ends before its last element does. */
static inline sdd_status svg_scan(struct svg *svg, const void *bytes, size_t size)
{
    size_t depth = 0;
    sdd_status status;
    memset(svg, 0, sizeof *svg);
    svg->at = bytes;
    svg->end = svg->at + size;
    svg->font_size = 16;
    status = svg_prolog(svg);
    if (status != SDD_OK) return status == SDD_ERROR_UNSUPPORTED ? SDD_ERROR_BAD_IMAGE_DATA : status;
    do {
        const char *begin = svg->at;
        svg->at = memchr(begin, '<', (size_t)(svg->end - begin));
        if (svg->at == NULL) return SDD_ERROR_INCOMPLETE;
        status = svg_count_references(svg, begin, (size_t)(svg->at - begin));
        if (status != SDD_OK) return status;
        if (svg_begins(svg, "<![CDATA[")) {
            status = svg_skip_past(svg, "]]>");
        } else {
            status = svg_skip_aside(svg);
            if (status == SDD_ERROR_NOT_FOUND) status = svg_element(svg, &depth);
        }
        if (status != SDD_OK) return status;
    } while (depth > 0);
    if (svg->has_zero) return SDD_DETAIL_IMAGE_ZERO_PIXELS;
    svg_settle_size(svg);
    return SDD_OK;
}

#endif
