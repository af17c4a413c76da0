#include "formats.h"
#include "names.h"

#include <string.h>

static const struct {
    int32_t format;
    const char *package;
    bool encodes;
} coders[] = {
    { SDD_IMAGE_FORMAT_WEBP, "libsdd-coder-webp", true },  { SDD_IMAGE_FORMAT_AVIF, "libsdd-coder-avif", true },
    { SDD_IMAGE_FORMAT_JXL, "libsdd-coder-jxl", true },    { SDD_IMAGE_FORMAT_GIF, "libsdd-coder-gif", true },
    { SDD_IMAGE_FORMAT_HEIF, "libsdd-coder-heif", false }, { SDD_IMAGE_FORMAT_BMP, "libsdd-coder-bmp", false },
    { SDD_IMAGE_FORMAT_ICO, "libsdd-coder-bmp", false },   { SDD_IMAGE_FORMAT_SVG, "libsdd-coder-svg", false },
};

const char *coder_package(int32_t format)
{
    for (size_t i = 0; i < sizeof coders / sizeof *coders; i++)
        if (coders[i].format == format) return coders[i].package;
    return NULL;
}

static const char *package_that_encodes(int32_t format)
{
    for (size_t i = 0; i < sizeof coders / sizeof *coders; i++)
        if (coders[i].format == format && coders[i].encodes) return coders[i].package;
    return NULL;
}

/* Encodes one grey pixel, since that is how a coder says that it can. */
static bool try_encoding(int32_t format)
{
    static const uint8_t dot[] = { 0x89, 0x50, 0x4e, 0x47, 0xd,  0xa,  0x1a, 0xa,  0,    0,    0,    0xd,  0x49, 0x48,
                                   0x44, 0x52, 0,    0,    0,    1,    0,    0,    0,    1,    8,    0,    0,    0,
                                   0,    0x3a, 0x7e, 0x9b, 0x55, 0,    0,    0,    0xa,  0x49, 0x44, 0x41, 0x54, 0x78,
                                   0x9c, 0x63, 0x68, 0,    0,    0,    0x82, 0,    0x81, 0x77, 0xcd, 0x72, 0xb6, 0,
                                   0,    0,    0,    0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82 };
    sdd_encode_options options = SDD_ENCODE_OPTIONS_INIT;
    sdd_image *image = NULL;
    sdd_bytes *bytes = NULL;
    options.format = format;
    bool good = sdd_image_decode(dot, sizeof dot, NULL, &image) == SDD_OK &&
                sdd_image_encode(image, &options, &bytes) == SDD_OK;
    sdd_bytes_release(bytes);
    sdd_image_release(image);
    return good;
}

bool can_encode(int32_t format)
{
    static signed char known[sizeof coders / sizeof *coders]; /* 1: yes, -1: no, 0: not tried yet */
    if (format == SDD_IMAGE_FORMAT_JPEG || format == SDD_IMAGE_FORMAT_PNG) return true;
    for (size_t i = 0; i < sizeof coders / sizeof *coders; i++) {
        if (coders[i].format != format || !coders[i].encodes) continue;
        if (known[i] == 0) known[i] = try_encoding(format) ? 1 : -1;
        return known[i] > 0;
    }
    return false;
}

void add_why_not(struct text *sentence, int32_t format)
{
    const char *package = package_that_encodes(format);
    if (package != NULL)
        text_printf(sentence, "no encoder for %s is installed; the package %s has one", format_title(format), package);
    else
        text_printf(sentence, "sdd does not write %s; it writes JPEG, PNG, GIF, WebP, AVIF and JPEG XL",
                    format_title(format));
}

int32_t wanted_format(const struct settings *settings, const char *name)
{
    const char *extension = NULL;
    if (settings->format != 0 || settings->any || name == NULL || strcmp(name, "-") == 0) return settings->format;
    return format_of_name(name, &extension);
}

static void refuse_format(const char *option, int32_t format)
{
    struct text why = { 0 };
    add_why_not(&why, format);
    usage_error("--%s: %s", option, why.data);
}

void check_formats(const struct settings *settings)
{
    const char *extension = NULL;
    bool changes = settings->command == THUMBNAIL || settings->still || changes_pictures(settings);
    int32_t format = wanted_format(settings, settings->output);
    if (settings->format != 0 && !can_encode(settings->format)) refuse_format("to", settings->format);
    if (settings->output == NULL || settings->any || strcmp(settings->output, "-") == 0) return;
    int32_t named = format_of_name(settings->output, &extension);
    if (named > 0 && named != format)
        usage_error("--output: \"%s\" is a name for %s, and --to asks for %s", settings->output, format_title(named),
                    format_title(format));
    if (format == FORMAT_NONE)
        usage_error("--output: \".%s\" is no extension of pictures; --to says the format of a file with any name",
                    extension);
    if (format > 0 && changes && !can_encode(format)) refuse_format("output", format);
}
