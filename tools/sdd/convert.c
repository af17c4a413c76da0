#include "convert.h"
#include "formats.h"

#include <stdlib.h>

bool is_as_wanted(const struct settings *settings, int32_t wanted, const sdd_image_info *info)
{
    if (wanted != 0 && info->format != wanted) return false;
    return !changes_pictures(settings) && !(settings->still && info->frame_count > 1);
}

static bool has_animations(int32_t format)
{
    return format == SDD_IMAGE_FORMAT_PNG || format == SDD_IMAGE_FORMAT_GIF || format == SDD_IMAGE_FORMAT_WEBP;
}

/* The format of a file that nothing names; 0: JPEG, or a PNG if pixels are transparent. */
static sdd_image_format own_format(sdd_image_format format, bool animated)
{
    if (format == SDD_IMAGE_FORMAT_JPEG || format == SDD_IMAGE_FORMAT_PNG) return format;
    if (!animated) return 0;
    return has_animations(format) && can_encode(format) ? format : SDD_IMAGE_FORMAT_PNG;
}

static uint32_t colour(const char *digits) { return digits == NULL ? 0 : (uint32_t)strtoul(digits, NULL, 16); }

bool fill_encoding(const struct settings *settings, int32_t wanted, const sdd_image_info *info,
                   sdd_encode_options *options)
{
    bool animated = info->frame_count > 1 && settings->command == GET && !settings->still;
    options->format = wanted > 0 ? wanted : own_format(info->format, animated);
    options->animated = animated && has_animations(options->format);
    options->quality = settings->quality > 0 ? (int32_t)settings->quality : 0;
    options->max_bytes = settings->max_output > 0 ? settings->max_output : 0;
    options->background = colour(settings->background);
    options->progressive = settings->progressive;
    return options->animated || !animated;
}
