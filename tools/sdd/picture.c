#include "picture.h"
#include "exif.h"
#include "formats.h"
#include "json.h"
#include "names.h"
#include "output.h"
#include "report.h"
#include "words.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { LONGEST_TEXT = 300, MOST_TEXTS = 20 };

/* Decodes the picture of a coder, since only that gives its facts. It is decoded small, where its coder can do that. */
static sdd_failure decode_small(const void *data, size_t size, sdd_image_info *info)
{
    sdd_decode_options options = SDD_DECODE_OPTIONS_INIT;
    sdd_image *image = NULL;
    options.target_width = options.target_height = 1;
    if (sdd_image_decode(data, size, &options, &image) != SDD_OK) return last_failure();
    sdd_image_get_info(image, info);
    sdd_image_release(image);
    return (sdd_failure){ .message = "" };
}

bool picture_needs_all(const void *data, size_t size)
{
    sdd_image_info info = SDD_IMAGE_INFO_INIT;
    sdd_image_format format = sdd_image_sniff(data, size);
    if (format == 0 || format == SDD_IMAGE_FORMAT_JPEG || format == SDD_IMAGE_FORMAT_PNG) return false;
    sdd_failure failure = decode_small(data, size, &info);
    return failure.status != SDD_OK && failure.detail != SDD_DETAIL_IMAGE_UNKNOWN_FORMAT;
}

/* Reads the facts of a format that sdd_image_probe() does not know. */
static void read_with_coder(struct picture *picture, const void *data, size_t size)
{
    picture->by_coder = true;
    picture->failure = decode_small(data, size, &picture->info);
    picture->failure.message = NULL;
    if (picture->failure.status == SDD_OK) return;
    picture->info.format = 0;
    /* A format that nothing here decodes, or the beginning of a picture. */
    if (picture->failure.detail == SDD_DETAIL_IMAGE_UNKNOWN_FORMAT || !picture->whole)
        picture->failure = (sdd_failure){ 0 };
}

static void read_facts(struct picture *picture, const void *data, size_t size)
{
    picture->format = sdd_image_sniff(data, size);
    if (sdd_image_probe(data, size, &picture->info) == SDD_OK) return;
    picture->failure = last_failure();
    picture->failure.message = NULL;
    if (picture->format == 0) return;
    if (picture->format == SDD_IMAGE_FORMAT_JPEG || picture->format == SDD_IMAGE_FORMAT_PNG)
        picture->failure = own_failure(SDD_ERROR_BAD_IMAGE_DATA, SDD_DETAIL_IMAGE_CORRUPT, NULL);
    else
        read_with_coder(picture, data, size);
}

/* Makes the ThumbHash of a picture that is decoded to the size at which pictures are hashed. It is that of the picture
   at full size: SDD_SCALING_EXACT takes the same means. */
static void read_hash(struct picture *picture, const void *data, size_t size)
{
    sdd_decode_options options = SDD_DECODE_OPTIONS_INIT;
    sdd_image *image = NULL;
    options.target_width = options.target_height = 100;
    options.scaling = SDD_SCALING_EXACT;
    if (sdd_image_decode(data, size, &options, &image) != SDD_OK ||
        sdd_image_thumbhash(image, &picture->hash) != SDD_OK)
        picture->failure = last_failure(), picture->failure.message = NULL;
    sdd_image_release(image);
}

void picture_read(struct picture *picture, struct session *session, int fd)
{
    struct stat file;
    char url[64];
    picture->info = (sdd_image_info)SDD_IMAGE_INFO_INIT;
    if (fstat(fd, &file) != 0) return;
    if (file.st_size == 0) {
        picture->failure = own_failure(SDD_ERROR_BAD_IMAGE_DATA, SDD_DETAIL_IMAGE_EMPTY, NULL);
        return;
    }
    void *data = mmap(NULL, (size_t)file.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED) {
        picture->failure = own_failure(SDD_ERROR_NO_RESOURCES, 0, NULL);
        return;
    }
    read_facts(picture, data, (size_t)file.st_size);
    if (session->settings->thumbhash && picture->failure.status == SDD_OK && picture->info.format != 0)
        read_hash(picture, data, (size_t)file.st_size);
    munmap(data, (size_t)file.st_size);
    if (picture->failure.status != SDD_OK || picture->info.format == 0) return;
    /* An image whose pixels are not decoded has the metadata of the bytes that are there. */
    snprintf(url, sizeof url, "file:///proc/self/fd/%d", fd);
    sdd_get(session->downloader, url, SDD_OPTION_AVOID_DECODE_IMAGE, -1, &picture->image, NULL, NULL);
}

/* ------------------------------------------------------------------------------------------------------ for people */

static void add_exif_line(const char *name, const char *value, void *user_data)
{
    text_printf(user_data, "    %-17s %s\n", name, value);
}

static const char *orientation_text(int32_t orientation)
{
    static const char *const texts[] = { "",
                                         "upright",
                                         "mirrored",
                                         "turned by 180 degrees",
                                         "mirrored, turned by 180 degrees",
                                         "mirrored, to be turned right by 270 degrees",
                                         "to be turned right by 90 degrees",
                                         "mirrored, to be turned right by 90 degrees",
                                         "to be turned right by 270 degrees" };
    return orientation >= 1 && orientation <= 8 ? texts[orientation] : "";
}

/* Why nothing more is known of a picture than its format. */
static void add_missing(struct text *page, const struct picture *picture)
{
    const char *package = coder_package(picture->format);
    if (!picture->whole)
        text_puts(page, " (its first bytes say no more)");
    else if (package == NULL)
        text_puts(page, " (sdd only recognises it)");
    else
        text_printf(page, " (no decoder for %s is installed: %s has one)", format_title(picture->format), package);
}

static void add_facts(struct text *page, const struct picture *picture)
{
    static const char *const channels[] = { "", "grey", "grey and alpha", "colour", "colour and alpha", "four inks" };
    const sdd_image_info *info = &picture->info;
    int kind = info->format == SDD_IMAGE_FORMAT_JPEG && info->channels == 4 ? 5 : (int)info->channels;
    text_printf(page, "  format:      %s", format_name(picture->format));
    if (info->format == 0)
        add_missing(page, picture);
    else if (info->is_progressive)
        text_puts(page, info->format == SDD_IMAGE_FORMAT_PNG ? ", interlaced" : ", progressive");
    text_putc(page, '\n');
    if (info->format != 0) {
        text_printf(page, "  pixels:      %d x %d", (int)info->stored_width, (int)info->stored_height);
        if (!picture->by_coder)
            text_printf(page, ", %s, %d bits a channel", kind >= 1 && kind <= 5 ? channels[kind] : "",
                        (int)info->depth);
        text_putc(page, '\n');
        if (info->orientation > 4)
            text_printf(page, "  orientation: %d, %s; shown as %d x %d\n", (int)info->orientation,
                        orientation_text(info->orientation), (int)info->stored_height, (int)info->stored_width);
        else
            text_printf(page, "  orientation: %d, %s\n", (int)info->orientation, orientation_text(info->orientation));
        text_printf(page, "  frames:      %d", (int)info->frame_count);
        if (info->frame_count > 1 && info->loop_count == 0)
            text_puts(page, ", shown for ever");
        else if (info->frame_count > 1)
            text_printf(page, ", shown %d times", (int)info->loop_count);
        text_putc(page, '\n');
    }
    if (picture->size >= 0)
        text_printf(page, "  size:        %s (%" PRId64 " bytes)\n", bytes_text(picture->size), picture->size);
}

static const char *gain_map_kind(sdd_gain_map_kind kind, bool for_people)
{
    switch (kind) {
    case SDD_GAIN_MAP_ISO: return for_people ? "ISO 21496-1" : "iso";
    case SDD_GAIN_MAP_ULTRA_HDR: return for_people ? "Ultra HDR" : "ultra_hdr";
    case SDD_GAIN_MAP_APPLE: return for_people ? "Apple" : "apple";
    default: return "";
    }
}

static double largest(const double boosts[3]) { return fmax(boosts[0], fmax(boosts[1], boosts[2])); }

/* Says of a gain map what it makes of the picture: a stop is twice as bright. */
static void add_gain_map(struct text *page, sdd_image *image, bool is_whole)
{
    sdd_gain_map_info map = SDD_GAIN_MAP_INFO_INIT;
    sdd_image_info info = SDD_IMAGE_INFO_INIT;
    sdd_status status = sdd_image_get_gain_map_info(image, &map);
    if (status == SDD_ERROR_BAD_IMAGE_DATA)
        text_printf(page, "  gain map:    %s\n", is_whole ? "damaged" : "behind what was read");
    if (status != SDD_OK) return;
    text_printf(page, "  gain map:    %s", gain_map_kind(map.kind, true));
    if (sdd_image_probe(sdd_bytes_data(sdd_image_bytes(image)) + map.offset, map.size, &info) == SDD_OK)
        text_printf(page, ", %d x %d", (int)info.stored_width, (int)info.stored_height);
    if (map.size > 0) text_printf(page, ", %zu bytes at %zu", map.size, map.offset);
    if (map.is_base_hdr)
        text_puts(page, ", makes an SDR picture of this HDR one");
    else if (map.kind != SDD_GAIN_MAP_APPLE || map.max_boost[0] > 0)
        text_printf(page, ", up to %.2g stops brighter", largest(map.max_boost));
    text_putc(page, '\n');
}

/* What a picture says of its colours: "Display P3", "PQ, BT.2020". */
static void add_colours(struct text *page, const sdd_image_colour *colour, bool shown)
{
    const char *name = colour->name != NULL ? colour->name : "";
    const char *comma = *name != 0 ? ", " : "";
    switch (colour->kind) {
    case SDD_COLOUR_KIND_UNSTATED: text_puts(page, "not stated"); return;
    case SDD_COLOUR_KIND_SRGB:
        if (strstr(name, "sRGB") != NULL)
            text_puts(page, name);
        else
            text_printf(page, "sRGB%s%s", comma, name);
        return;
    case SDD_COLOUR_KIND_TABLES: text_printf(page, "%s%sa profile with tables", name, comma); return;
    case SDD_COLOUR_KIND_INKS: text_printf(page, "%s%sfour inks", name, comma); return;
    case SDD_COLOUR_KIND_HDR:
        text_printf(page, "%s%s%s",
                    colour->transfer == 16   ? "PQ"
                    : colour->transfer == 18 ? "HLG"
                                             : "HDR",
                    comma, name);
        return;
    default: text_puts(page, *name != 0 ? name : "a profile without a name"); break;
    }
    if (shown) text_puts(page, ", converted to sRGB");
}

static void add_metadata(struct text *page, const struct picture *picture)
{
    sdd_image *image = picture->image;
    sdd_image_colour colour = SDD_IMAGE_COLOUR_INIT;
    const void *data = NULL;
    size_t size = 0;
    struct text description = { 0 };
    if (sdd_image_get_colour(image, &colour) == SDD_OK) {
        text_puts(page, "  colours:     ");
        add_colours(page, &colour, picture->shown);
        text_putc(page, '\n');
    }
    if (sdd_image_metadata(image, SDD_METADATA_ICC, &data, &size) == SDD_OK) {
        icc_description(data, size, &description);
        text_printf(page, "  profile:     %s%s%zu bytes\n", text_string(&description), description.size > 0 ? ", " : "",
                    size);
    }
    if (sdd_image_metadata(image, SDD_METADATA_EXIF, &data, &size) == SDD_OK) {
        text_printf(page, "  Exif:        %zu bytes\n", size);
        exif_read(data, size, add_exif_line, page);
    }
    if (sdd_image_metadata(image, SDD_METADATA_XMP, &data, &size) == SDD_OK)
        text_printf(page, "  XMP:         %zu bytes\n", size);
    size_t count = sdd_image_text_count(image);
    for (size_t i = 0; i < count && i < MOST_TEXTS; i++) {
        sdd_image_text item = SDD_IMAGE_TEXT_INIT;
        if (sdd_image_text_at(image, i, &item) != SDD_OK) continue;
        text_puts(page, "  text:        ");
        text_add_clean(page, item.keyword, strlen(item.keyword));
        text_puts(page, ": ");
        text_add_clean(page, item.text, item.text_size > LONGEST_TEXT ? LONGEST_TEXT : item.text_size);
        text_puts(page, item.text_size > LONGEST_TEXT ? "...\n" : "\n");
    }
    if (count > MOST_TEXTS) text_printf(page, "  and %zu more texts\n", count - MOST_TEXTS);
    text_free(&description);
}

static void print_text(const struct picture *picture)
{
    struct text page = { 0 }, clean = { 0 };
    text_printf(&page, "%s\n", picture->source);
    add_facts(&page, picture);
    if (picture->image != NULL) {
        add_metadata(&page, picture);
        add_gain_map(&page, picture->image, picture->whole);
    }
    if (picture->hash != NULL) {
        text_puts(&page, "  ThumbHash:   ");
        text_add_base64(&page, sdd_bytes_data(picture->hash), sdd_bytes_size(picture->hash));
        text_putc(&page, '\n');
    }
    if (picture->http_status != 0) {
        text_printf(&page, "  server:      status %d%s%s", (int)picture->http_status, picture->type == NULL ? "" : ", ",
                    picture->type == NULL ? "" : picture->type);
        if (picture->modified != NULL) text_printf(&page, ", of %s", picture->modified);
        text_putc(&page, '\n');
        if (picture->final_url != NULL && strcmp(picture->final_url, picture->source) != 0)
            text_printf(&page, "  redirected:  %s\n", picture->final_url);
        text_printf(&page, "  read:        %s%s, in %d request%s\n", picture->whole ? "all, " : "the first ",
                    bytes_text(picture->read), (int)picture->requests, picture->requests == 1 ? "" : "s");
    }
    /* Texts of pictures and servers are shown, not obeyed; their lines stay lines of this page. */
    for (const char *line = page.data; *line != 0; line += strcspn(line, "\n") + 1) {
        text_add_clean(&clean, line, strcspn(line, "\n"));
        text_putc(&clean, '\n');
    }
    print_out(clean.data, clean.size);
    text_free(&page);
    text_free(&clean);
}

/* -------------------------------------------------------------------------------------------------- for programs */

static void add_exif_member(const char *name, const char *value, void *user_data)
{
    json_string(user_data, name, value);
}

static void add_texts(struct text *line, sdd_image *image)
{
    size_t count = sdd_image_text_count(image);
    if (count == 0) return;
    json_open(line, "texts", '[');
    for (size_t i = 0; i < count; i++) {
        sdd_image_text item = SDD_IMAGE_TEXT_INIT;
        if (sdd_image_text_at(image, i, &item) != SDD_OK) continue;
        json_open(line, NULL, '{');
        json_string(line, "keyword", item.keyword);
        json_bytes(line, "text", item.text, item.text_size);
        if (item.language != NULL && *item.language != 0) json_string(line, "language", item.language);
        json_close(line, '}');
    }
    json_close(line, ']');
}

static void add_json_colours(struct text *line, sdd_image *image)
{
    static const char *const kinds[] = { "unstated", "srgb", "matrix", "grey", "tables", "inks", "hdr" };
    sdd_image_colour colour = SDD_IMAGE_COLOUR_INIT;
    if (sdd_image_get_colour(image, &colour) != SDD_OK) return;
    if (colour.kind >= 0 && colour.kind < (int)(sizeof kinds / sizeof *kinds))
        json_string(line, "colour_kind", kinds[colour.kind]);
    if (colour.name != NULL && *colour.name != 0) json_string(line, "colour_name", colour.name);
    if (colour.primaries != 0) json_number(line, "primaries", colour.primaries);
    if (colour.transfer != 0) json_number(line, "transfer", colour.transfer);
}

static void add_json_metadata(struct text *line, sdd_image *image)
{
    const void *data = NULL;
    size_t size = 0;
    struct text description = { 0 };
    add_json_colours(line, image);
    if (sdd_image_metadata(image, SDD_METADATA_ICC, &data, &size) == SDD_OK) {
        icc_description(data, size, &description);
        json_number(line, "icc_bytes", (int64_t)size);
        if (description.size > 0) json_string(line, "icc_description", description.data);
    }
    if (sdd_image_metadata(image, SDD_METADATA_EXIF, &data, &size) == SDD_OK) {
        json_number(line, "exif_bytes", (int64_t)size);
        json_open(line, "exif", '{');
        exif_read(data, size, add_exif_member, line);
        json_close(line, '}');
    }
    if (sdd_image_metadata(image, SDD_METADATA_XMP, &data, &size) == SDD_OK)
        json_number(line, "xmp_bytes", (int64_t)size);
    add_texts(line, image);
    text_free(&description);
}

static void add_json_gain_map(struct text *line, sdd_image *image)
{
    sdd_gain_map_info map = SDD_GAIN_MAP_INFO_INIT;
    if (sdd_image_get_gain_map_info(image, &map) != SDD_OK) return;
    json_open(line, "gain_map", '{');
    json_string(line, "kind", gain_map_kind(map.kind, false));
    json_boolean(line, "base_hdr", map.is_base_hdr != 0);
    if (map.size > 0) json_number(line, "offset", (int64_t)map.offset);
    if (map.size > 0) json_number(line, "bytes", (int64_t)map.size);
    json_real(line, "max_boost", largest(map.max_boost));
    json_real(line, "capacity_min", map.capacity_min);
    json_real(line, "capacity_max", map.capacity_max);
    json_close(line, '}');
}

static void add_json_facts(struct text *line, const struct picture *picture)
{
    const sdd_image_info *info = &picture->info;
    json_string(line, "format", format_name(picture->format));
    if (info->format == 0) return;
    json_number(line, "width", info->stored_width);
    json_number(line, "height", info->stored_height);
    if (!picture->by_coder) { /* a coder's frames say nothing of how the picture is stored */
        json_number(line, "channels", info->channels);
        json_number(line, "depth", info->depth);
        json_boolean(line, "progressive", info->is_progressive != 0);
    }
    json_number(line, "orientation", info->orientation);
    json_number(line, "frames", info->frame_count);
    json_number(line, "loops", info->loop_count);
}

static void print_json(const struct picture *picture)
{
    struct text line = { 0 };
    json_begin(&line);
    json_number(&line, "n", (int64_t)picture->number);
    json_string(&line, "source", picture->source);
    json_boolean(&line, "ok", picture->failure.status == SDD_OK);
    if (picture->failure.status == SDD_OK) {
        add_json_facts(&line, picture);
        if (picture->image != NULL) {
            add_json_metadata(&line, picture->image);
            add_json_gain_map(&line, picture->image);
        }
        if (picture->hash != NULL) {
            struct text hash = { 0 };
            text_add_base64(&hash, sdd_bytes_data(picture->hash), sdd_bytes_size(picture->hash));
            json_string(&line, "thumbhash", hash.data);
            text_free(&hash);
        }
        json_number(&line, "read_bytes", picture->read);
        json_boolean(&line, "whole", picture->whole);
    } else
        json_error(&line, &picture->failure, picture->failure.message);
    if (picture->size >= 0) json_number(&line, "bytes", picture->size);
    if (picture->http_status != 0) {
        json_number(&line, "status", picture->http_status);
        json_number(&line, "requests", picture->requests);
        json_string(&line, "type", picture->type);
        json_string(&line, "final_url", picture->final_url);
        json_string(&line, "last_modified", picture->modified);
        json_string(&line, "etag", picture->tag);
    }
    json_end(&line);
    text_free(&line);
}

static void complain_of(const struct picture *picture)
{
    struct text words = { 0 };
    add_words(&words, picture->failure.message);
    add_hint(&words, &picture->failure);
    complain("%s: %s", picture->source, words.data);
    text_free(&words);
}

void picture_print(const struct picture *picture, const struct settings *settings)
{
    if (settings->json) {
        print_json(picture);
        return;
    }
    if (picture->failure.status != SDD_OK)
        complain_of(picture);
    else if (!settings->quiet)
        print_text(picture);
}
