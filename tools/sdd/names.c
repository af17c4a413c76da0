#include "names.h"

#include <sdd/sdd.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { LONGEST_NAME = 200 };

static int hexadecimal(char digit)
{
    if (digit >= '0' && digit <= '9') return digit - '0';
    digit |= 0x20;
    return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

static void add_decoded(struct text *result, const char *data, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (data[i] == '%' && i + 2 < size && hexadecimal(data[i + 1]) >= 0 && hexadecimal(data[i + 2]) >= 0) {
            text_putc(result, (char)(hexadecimal(data[i + 1]) * 16 + hexadecimal(data[i + 2])));
            i += 2;
        } else
            text_putc(result, data[i]);
    }
}

/* The length of ".jpg" at the end of a name, 0 if it has no extension of at most ten letters and digits. */
static size_t extension_length(const char *name, size_t size)
{
    for (size_t i = 1; i < size && i <= 11; i++) {
        char last = name[size - i];
        if (last == '.') return i > 1 && i < size ? i : 0;
        if (!((last >= '0' && last <= '9') || ((last | 0x20) >= 'a' && (last | 0x20) <= 'z'))) return 0;
    }
    return 0;
}

/* Cuts a name to a number of bytes, between characters and before the extension. */
static void shorten(struct text *name, size_t longest)
{
    if (name->size <= longest) return;
    struct text result = { 0 };
    size_t tail = extension_length(name->data, name->size), stem = longest - tail;
    while (stem > 0 && (name->data[stem] & 0xc0) == 0x80) stem--;
    text_add(&result, name->data, stem);
    text_puts(&result, name->data + name->size - tail);
    text_free(name);
    *name = result;
}

bool name_add_safe(struct text *name, const char *data, size_t size)
{
    struct text safe = { 0 };
    text_puts(&safe, "");
    for (size_t i = 0; i < size;) {
        uint32_t character = 0;
        size_t length = utf8_read(data + i, size - i, &character);
        if (length == 0 || character == '/' || character == '\\' || is_unsafe_character(character))
            text_putc(&safe, '_');
        else
            text_add(&safe, data + i, length);
        i += length == 0 ? 1 : length;
    }
    while (safe.size > 0 && (safe.data[safe.size - 1] == ' ' || safe.data[safe.size - 1] == '.')) safe.size--;
    safe.data[safe.size] = 0;
    if (safe.data[0] == '.' || safe.data[0] == '-' || safe.data[0] == '~' || safe.data[0] == ' ') safe.data[0] = '_';
    shorten(&safe, LONGEST_NAME);
    bool is_left = safe.size > 0;
    text_puts(name, safe.data);
    text_free(&safe);
    return is_left;
}

void name_from_url(struct text *name, const char *url)
{
    struct text decoded = { 0 };
    const char *scheme = strstr(url, "://"), *path = strncasecmp(url, "data:", 5) == 0 ? "" : url;
    if (scheme != NULL) path = scheme + 3 + strcspn(scheme + 3, "/?#");
    size_t end = strcspn(path, "?#"), from = end;
    while (from > 0 && path[from - 1] != '/') from--;
    add_decoded(&decoded, path + from, end - from);
    if (!name_add_safe(name, text_string(&decoded), decoded.size))
        text_puts(name, strncasecmp(url, "data:", 5) == 0 ? "data" : "index");
    text_free(&decoded);
}

void name_from_file(struct text *name, const char *path)
{
    const char *slash = strrchr(path, '/'), *last = slash == NULL ? path : slash + 1;
    if (!name_add_safe(name, last, strlen(last))) text_puts(name, "file");
}

/* Finds a parameter of a header field and adds its value, without quotes. */
static bool parameter(const char *value, const char *name, struct text *result)
{
    const char *at = value + strcspn(value, ";");
    while (*at == ';') {
        at += 1 + strspn(at + 1, " \t");
        size_t length = strcspn(at, "=; \t");
        bool found = length == strlen(name) && strncasecmp(at, name, length) == 0;
        at += length;
        at += strspn(at, " \t");
        if (*at != '=') {
            at += strcspn(at, ";");
            continue;
        }
        at += 1 + strspn(at + 1, " \t");
        if (*at == '"') {
            for (at++; *at != 0 && *at != '"'; at++) {
                if (*at == '\\' && at[1] != 0) at++;
                if (found) text_putc(result, *at);
            }
            if (*at == '"') at++;
        } else {
            /* RFC 6266 asks for quotes around spaces; servers forget them, and browsers go on to the semicolon. */
            length = strcspn(at, ";");
            if (found) text_add(result, at, length);
            at += length;
            while (found && result->size > 0 && strchr(" \t", result->data[result->size - 1]) != NULL)
                result->data[--result->size] = 0;
        }
        if (found) return true;
        at += strcspn(at, ";");
    }
    return false;
}

bool name_from_header(struct text *name, const char *value)
{
    struct text raw = { 0 }, decoded = { 0 };
    /* RFC 8187: filename*=UTF-8''%e2%82%ac.jpg, which goes before the plain one. */
    if (parameter(value, "filename*", &raw) && strncasecmp(text_string(&raw), "utf-8'", 6) == 0) {
        const char *quote = strchr(raw.data + 6, '\'');
        if (quote != NULL) add_decoded(&decoded, quote + 1, strlen(quote + 1));
    }
    if (decoded.size == 0) {
        text_clear(&raw);
        if (parameter(value, "filename", &raw)) text_add(&decoded, text_string(&raw), raw.size);
    }
    /* If a path is given, its last part is the name, as in browsers. */
    const char *from = text_string(&decoded), *slash = NULL;
    while ((slash = strpbrk(from, "/\\")) != NULL) from = slash + 1;
    bool is_left = name_add_safe(name, from, strlen(from));
    text_free(&raw);
    text_free(&decoded);
    return is_left;
}

static const struct {
    int32_t format;
    const char *name, *title, *extensions[4];
} formats[] = {
    { SDD_IMAGE_FORMAT_JPEG, "jpeg", "JPEG", { "jpg", "jpeg", "jpe", "jfif" } },
    { SDD_IMAGE_FORMAT_PNG, "png", "PNG", { "png", "apng" } },
    { SDD_IMAGE_FORMAT_GIF, "gif", "GIF", { "gif" } },
    { SDD_IMAGE_FORMAT_WEBP, "webp", "WebP", { "webp" } },
    { SDD_IMAGE_FORMAT_AVIF, "avif", "AVIF", { "avif" } },
    { SDD_IMAGE_FORMAT_HEIF, "heif", "HEIF", { "heic", "heif" } },
    { SDD_IMAGE_FORMAT_JXL, "jxl", "JPEG XL", { "jxl" } },
    { SDD_IMAGE_FORMAT_TIFF, "tiff", "TIFF", { "tif", "tiff" } },
    { SDD_IMAGE_FORMAT_BMP, "bmp", "BMP", { "bmp", "dib" } },
    { SDD_IMAGE_FORMAT_ICO, "ico", "ICO", { "ico", "cur" } },
    { SDD_IMAGE_FORMAT_PDF, "pdf", "PDF", { "pdf" } },
    { SDD_IMAGE_FORMAT_SVG, "svg", "SVG", { "svg" } },
};

int32_t format_at(size_t index) { return index < sizeof formats / sizeof *formats ? formats[index].format : 0; }

static size_t format_index(int32_t format)
{
    size_t i = 0;
    while (i < sizeof formats / sizeof *formats && formats[i].format != format) i++;
    return i;
}

/* Returns "jpg" for SDD_IMAGE_FORMAT_JPEG, "" for an unknown format. */
static const char *format_extension(int32_t format)
{
    size_t i = format_index(format);
    return i < sizeof formats / sizeof *formats ? formats[i].extensions[0] : "";
}

const char *format_name(int32_t format)
{
    size_t i = format_index(format);
    return i < sizeof formats / sizeof *formats ? formats[i].name : "unknown";
}

const char *format_title(int32_t format)
{
    size_t i = format_index(format);
    return i < sizeof formats / sizeof *formats ? formats[i].title : "an unknown format";
}

/* Tells whether ".jpg" is an extension of pictures; with a format, of that format. */
static bool is_picture_extension(const char *extension, int32_t format)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        for (size_t j = 0; j < 4 && formats[i].extensions[j] != NULL; j++)
            if (strcasecmp(extension, formats[i].extensions[j]) == 0) return format == 0 || formats[i].format == format;
    return false;
}

/* Splits "photo.jpg" into "photo" and the extension that the file gets. */
static void split(const struct name_facts *facts, struct text *stem, struct text *extension)
{
    size_t size = strlen(facts->base), tail = extension_length(facts->base, size);
    const char *given = facts->base + size - tail + (tail > 0);
    bool known = tail > 0 && is_picture_extension(given, facts->converted ? facts->format : 0);
    if (facts->converted && tail > 0 && !known && is_picture_extension(given, 0)) { /* photo.png is now photo.jpg */
        text_add(stem, facts->base, size - tail);
        text_puts(extension, format_extension(facts->format));
    } else if (known || facts->format == 0) {
        text_add(stem, facts->base, size - tail);
        text_puts(extension, tail > 0 ? given : "");
    } else { /* "image.php" or "image" */
        text_puts(stem, facts->base);
        text_puts(extension, format_extension(facts->format));
    }
}

static void add_host(struct text *name, const char *url)
{
    const char *scheme = strstr(url, "://"), *from = scheme == NULL ? "" : scheme + 3;
    size_t size = strcspn(from, "/?#");
    for (size_t i = size; i > 0; i--)
        if (from[i - 1] == '@') {
            from += i;
            size -= i;
            break;
        }
    if (!name_add_safe(name, size == 0 ? "local" : from, size == 0 ? 5 : size)) text_putc(name, '_'); /* "http://../" */
}

static const char *const fields[] = { "n", "name", "ext", "host", "width", "height" };

/* The index of the field at "{n:04}", and its width in digits; -1 for a field that does not exist. */
static int field_at(const char *at, int *digits, size_t *size)
{
    const char *end = strchr(at, '}');
    if (end == NULL) return -1;
    size_t length = strcspn(at + 1, ":}");
    *size = (size_t)(end - at) + 1;
    *digits = 0;
    if (at[1 + length] == ':') {
        int64_t number = 0;
        struct text width = { 0 };
        text_add(&width, at + length + 2, (size_t)(end - at) - length - 2);
        bool good = parse_number(text_string(&width), 0, 20, &number);
        text_free(&width);
        if (!good) return -1;
        *digits = (int)number;
    }
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (strlen(fields[i]) == length && strncmp(at + 1, fields[i], length) == 0) return (int)i;
    return -1;
}

static void add_field(struct text *name, int field, int digits, const struct name_facts *facts, const char *stem,
                      const char *extension)
{
    switch (field) {
    case 0: text_printf(name, "%0*" PRIu64, digits, facts->number); break;
    case 1: text_puts(name, stem); break;
    case 2:
        if (*extension != 0)
            text_puts(name, extension);
        else if (name->size > 1 && name->data[name->size - 1] == '.' && name->data[name->size - 2] != '/')
            name->data[--name->size] = 0; /* "{name}.{ext}" without an extension */
        else
            text_puts(name, "unknown");
        break;
    case 3: add_host(name, facts->url); break;
    case 4: text_printf(name, "%0*d", digits, (int)facts->width); break;
    case 5: text_printf(name, "%0*d", digits, (int)facts->height); break;
    default: break;
    }
}

/* Tells whether the `size` bytes at `part` are a part of a path that is no name: "", "." or "..". */
static bool is_no_name(const char *part, size_t size) { return size == 0 || (size <= 2 && strspn(part, ".") >= size); }

/* Replaces the dots of parts that are no name, which fields and dots of a template can make together. */
static void replace_dots(char *part)
{
    for (;;) {
        size_t size = strcspn(part, "/");
        if (size > 0 && is_no_name(part, size)) memset(part, '_', size);
        if (part[size] == 0) return;
        part += size + 1;
    }
}

void name_make(struct text *name, const char *template, const struct name_facts *facts)
{
    struct text stem = { 0 }, extension = { 0 };
    size_t before = name->size;
    split(facts, &stem, &extension);
    const char *at = template == NULL ? "{name}.{ext}" : template + template_head(template);
    for (; *at != 0; at++) {
        int digits = 0;
        size_t size = 0;
        if ((*at == '{' || *at == '}') && at[1] == *at) {
            text_putc(name, *at++);
        } else if (*at == '{') {
            int field = field_at(at, &digits, &size);
            if (field < 0) break; /* template_error() has refused it */
            add_field(name, field, digits, facts, text_string(&stem), text_string(&extension));
            at += size - 1;
        } else
            text_putc(name, *at);
    }
    if (name->size > before) replace_dots(name->data + before);
    text_free(&stem);
    text_free(&extension);
}

bool is_template(const char *name)
{
    for (; *name != 0; name++) {
        if ((*name == '{' || *name == '}') && name[1] == *name)
            name++;
        else if (*name == '{')
            return true;
    }
    return false;
}

bool has_size_field(const char *template)
{
    return template != NULL && (strstr(template, "{width") != NULL || strstr(template, "{height") != NULL);
}

const char *template_error(const char *template)
{
    for (const char *at = template; *at != 0; at++) {
        int digits = 0;
        size_t size = 0;
        if ((*at == '{' || *at == '}') && at[1] == *at)
            at++;
        else if (*at == '{') {
            if (field_at(at, &digits, &size) < 0) return at;
            at += size - 1;
        }
    }
    return NULL;
}

size_t template_head(const char *template)
{
    size_t head = 0;
    for (const char *at = template; *at != 0; at++) {
        if ((*at == '{' || *at == '}') && at[1] == *at)
            at++;
        else if (*at == '{')
            break;
        else if (*at == '/')
            head = (size_t)(at - template) + 1;
    }
    return head;
}

static void add_plain(struct text *name, const char *template, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if ((template[i] == '{' || template[i] == '}') && template[i + 1] == template[i]) i++;
        text_putc(name, template[i]);
    }
}

void name_add_head(struct text *name, const char *template) { add_plain(name, template, template_head(template)); }

void name_add_plain(struct text *name, const char *template) { add_plain(name, template, strlen(template)); }

bool template_leaves(const char *template)
{
    const char *part = template + template_head(template);
    for (;;) {
        size_t size = strcspn(part, "/");
        if (is_no_name(part, size)) return true;
        if (part[size] == 0) return false;
        part += size + 1;
    }
}

int32_t format_of_name(const char *name, const char **extension)
{
    const char *slash = strrchr(name, '/'), *last = slash == NULL ? name : slash + 1;
    size_t size = strlen(last), tail = extension_length(last, size);
    *extension = last + size - tail + (tail > 0);
    if (tail == 0) return 0;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (is_picture_extension(*extension, formats[i].format)) return formats[i].format;
    return FORMAT_NONE;
}
