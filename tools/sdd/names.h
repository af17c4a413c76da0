/* Names of files: from URLs, from header fields, from templates. What a URL or a server chose is always one part of a
   path: never empty, ".", ".." or with a "/" in it. */
#ifndef SDD_TOOL_NAMES_H
#define SDD_TOOL_NAMES_H

#include "text.h"

/* Adds what a server or URL calls a file, as a name that is safe: no "/", no control characters, neither "." nor "-" at
   its start, at most 200 bytes. Returns false, and adds nothing, if nothing is left of it. */
bool name_add_safe(struct text *name, const char *data, size_t size);

/* Adds the last part of a URL's path, or "index" if it has none. */
void name_from_url(struct text *name, const char *url);

/* Adds the last part of a file's path. */
void name_from_file(struct text *name, const char *path);

/* Adds the name in a Content-Disposition (RFC 6266). Returns false if there is none. */
bool name_from_header(struct text *name, const char *value);

/* Returns "jpeg" for SDD_IMAGE_FORMAT_JPEG, "unknown" for an unknown format. */
const char *format_name(int32_t format);

/* Returns "JPEG XL" for SDD_IMAGE_FORMAT_JXL, for sentences. */
const char *format_title(int32_t format);

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

/* Adds the name of a file below the head of the template; a NULL template stands for "{name}.{ext}". No part of it that
   has a field is "", "." or "..": a field without a value has a placeholder. */
void name_make(struct text *name, const char *template, const struct name_facts *facts);

/* Returns NULL, or the field of a template that does not exist. A template has at least one field. */
const char *template_error(const char *template);
bool is_template(const char *name);

/* Tells whether a template, or NULL, has {width} or {height}, which only the picture says. */
bool has_size_field(const char *template);

/* The bytes up to the last "/" before the first field, that "/" included: directories that the user has chosen; and what
   they say, without the braces that stand for braces. */
size_t template_head(const char *template);
void name_add_head(struct text *name, const char *template);

/* Adds what a template without fields says. */
void name_add_plain(struct text *name, const char *template);

/* Tells whether a part of a path behind the first field is "", "." or "..". */
bool template_leaves(const char *template);

/* Returns the format that the extension of a name or template stands for: 0 if it has none or "{ext}", FORMAT_NONE if
   pictures have no such extension, which is then at `extension`. */
enum { FORMAT_NONE = -1 };
int32_t format_of_name(const char *name, const char **extension);

#endif
