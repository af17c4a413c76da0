/* Names of files: from URLs, from header fields, from templates. A name that a URL or a server chose never leaves its
   directory. */
#ifndef SDD_TOOL_NAMES_H
#define SDD_TOOL_NAMES_H

#include "text.h"

/* Adds what a server or URL calls a file, as a name that is safe: no "/", no control characters, neither "." nor "-" at
   its start, at most 200 bytes. It may be empty. */
void name_add_safe(struct text *name, const char *data, size_t size);

/* Adds the last part of a URL's path, or "index" if it has none. */
void name_from_url(struct text *name, const char *url);

/* Adds the name in a Content-Disposition (RFC 6266). Returns false if there is none. */
bool name_from_header(struct text *name, const char *value);

/* Returns "jpeg" for SDD_IMAGE_FORMAT_JPEG, "unknown" for an unknown format. */
const char *format_name(int32_t format);

/* The known formats, by an index from 0 on; 0 after the last one. */
int32_t format_at(size_t index);

/* The values of the fields of a template. */
struct name_facts {
    const char *url;
    const char *base; /* name_from_url() or name_from_header() */
    uint64_t number;
    int32_t format; /* of the file; 0: unknown */
    bool converted; /* its extension is that of `format`, whatever `base` says */
    int32_t width, height;
};

/* Adds the name of a file. A NULL template stands for "{name}.{ext}". */
void name_make(struct text *name, const char *template, const struct name_facts *facts);

/* Returns NULL, or the field of a template that does not exist. A template has at least one field. */
const char *template_error(const char *template);
bool is_template(const char *name);

#endif
