/*
 * svg: SVG by librsvg, drawn at the size that is wanted. Package libsdd-coder-svg.
 *
 * A picture is a program here. It gets no base URL, so that librsvg opens nothing that it names, and it is drawn by the
 * program sdd-decoder, whose limits end what takes too much.
 */
#define _GNU_SOURCE
#include "svg.h"

#include <cairo-ft.h>
#include <dlfcn.h>
#include <fontconfig/fcfreetype.h>
#include <fontconfig/fontconfig.h>
#include <librsvg/rsvg.h>

/* The longest side that cairo draws. */
enum { MOST_SIDE = 32767 };

struct decoder {
    struct body body; /* first: body_feed() */
    int64_t max_pixels;
    struct svg svg;
    int32_t width, height, picture_width, picture_height;
    cairo_surface_t *surface;
    int is_scanned, is_done;
};

static int32_t svg_can_decode(const void *bytes, size_t size, void *user_data)
{
    struct svg svg = { .at = bytes };
    sdd_status status;
    (void)user_data;
    svg.end = svg.at + (size < 65536 ? size : 65536);
    status = svg_prolog(&svg);
    if (status == SDD_ERROR_INCOMPLETE) return size < 65536 ? -1 : 0;
    /* What is refused in a prolog is told when it is decoded. */
    return status != SDD_ERROR_UNSUPPORTED && status != SDD_ERROR_BAD_IMAGE_DATA;
}

static sdd_status svg_open(const sdd_coder_task *task, void **out, void *user_data)
{
    struct decoder *decoder = calloc(1, sizeof *decoder);
    (void)user_data;
    if (decoder == NULL) return SDD_ERROR_NO_RESOURCES;
    decoder->max_pixels = task->max_pixels;
    *out = decoder;
    return SDD_OK;
}

static int32_t rounded(double side) { return side < 1 ? 1 : side >= INT32_MAX ? INT32_MAX : (int32_t)(side + 0.5); }

static sdd_status scan(struct decoder *decoder)
{
    sdd_status status = SDD_OK;
    if (decoder->is_scanned) return SDD_OK;
    if (!decoder->body.is_whole) return SDD_ERROR_INCOMPLETE;
    status = svg_scan(&decoder->svg, decoder->body.bytes, decoder->body.size);
    if (status != SDD_OK) return status;
    decoder->is_scanned = 1;
    decoder->picture_width = rounded(decoder->svg.width);
    decoder->picture_height = rounded(decoder->svg.height);
    if (decoder->width == 0) {
        decoder->width = decoder->picture_width;
        decoder->height = decoder->picture_height;
    }
    return SDD_OK;
}

static sdd_status svg_resize(void *given, int32_t width, int32_t height, void *user_data)
{
    struct decoder *decoder = given;
    (void)user_data;
    decoder->width = width;
    decoder->height = height;
    return SDD_OK;
}

static double least(size_t one, size_t other) { return (double)(one < other ? one : other); }

/* With librsvg 2.54, an element took 1.9 KB, a byte of a path up to 30, a text 12 MB with its fonts. An image in the file
   is there as bytes and as pixels, twice. Each group with opacity, mask or filter, and each step of a filter, has a
   surface of its own while it is drawn. */
static sdd_status svg_estimate(void *given, sdd_coder_estimate *estimate, void *user_data)
{
    struct decoder *decoder = given;
    const struct svg *svg = &decoder->svg;
    double drawn, text, surfaces;
    sdd_status status = scan(decoder);
    (void)user_data;
    if (status != SDD_OK) return status;
    drawn = (double)decoder->width * decoder->height;
    text = (double)(decoder->body.size - svg->image_bytes);
    surfaces = 1 + least(svg->layers, 4) + least(svg->primitives, 8) + (svg->primitives > 0 ? 2 : 0);
    status = fill_estimate(estimate, &decoder->body, decoder->picture_width, decoder->picture_height, 0,
                           4 * drawn * surfaces + 2048.0 * (double)svg->elements + 30 * text +
                               2.0 * (double)svg->image_bytes + 8 * svg->image_pixels + 1.6e7);
    decoder->body.takes_much = 1;
    return status;
}

/* Returns the document; NULL if it is damaged. */
static RsvgHandle *document(const void *bytes, size_t size)
{
    GInputStream *stream = g_memory_input_stream_new_from_data(bytes, (gssize)size, NULL);
    RsvgHandle *made = rsvg_handle_new_from_stream_sync(stream, NULL, RSVG_HANDLE_FLAGS_NONE, NULL, NULL);
    g_object_unref(stream);
    if (made != NULL) rsvg_handle_set_dpi(made, 96);
    return made;
}

/* Draws a document of some size to the whole of a surface. Returns false if it is beyond the limits of librsvg. */
static int draw(RsvgHandle *document, double width, double height, cairo_surface_t *surface)
{
    const RsvgRectangle place = { 0, 0, width, height };
    cairo_t *to = cairo_create(surface);
    int is_drawn;
    cairo_scale(to, cairo_image_surface_get_width(surface) / width, cairo_image_surface_get_height(surface) / height);
    is_drawn = rsvg_handle_render_document(document, to, &place, NULL) && cairo_status(to) == CAIRO_STATUS_SUCCESS;
    cairo_destroy(to);
    cairo_surface_flush(surface);
    return is_drawn;
}

static sdd_status make(struct decoder *decoder)
{
    RsvgHandle *made;
    int is_drawn;
    sdd_status status = scan(decoder);
    if (status == SDD_OK) status = check_size(decoder->width, decoder->height, decoder->max_pixels);
    if (status != SDD_OK) return status;
    if (decoder->width > MOST_SIDE || decoder->height > MOST_SIDE) return SDD_DETAIL_IMAGE_UNSUPPORTED;
    if (decoder->svg.image_pixels > (double)decoder->max_pixels) return SDD_DETAIL_IMAGE_TOO_MANY_PIXELS;
    decoder->surface = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, decoder->width, decoder->height);
    if (cairo_surface_status(decoder->surface) != CAIRO_STATUS_SUCCESS) return SDD_ERROR_NO_RESOURCES;
    made = document(decoder->body.bytes, decoder->body.size);
    if (made == NULL) return SDD_ERROR_BAD_IMAGE_DATA;
    is_drawn = draw(made, decoder->svg.width, decoder->svg.height, decoder->surface);
    g_object_unref(made);
    return is_drawn ? SDD_OK : SDD_DETAIL_IMAGE_UNSUPPORTED;
}

static sdd_status svg_next(void *given, sdd_coder_frame *frame, void *user_data)
{
    struct decoder *decoder = given;
    sdd_status status;
    (void)user_data;
    if (decoder->is_done) return SDD_ERROR_NOT_FOUND;
    if (!decoder->body.is_whole) return SDD_ERROR_INCOMPLETE;
    status = make(decoder);
    if (status != SDD_OK) return status;
    decoder->is_done = 1;
    fill_frame(frame, cairo_image_surface_get_data(decoder->surface), decoder->width, decoder->height);
    frame->stride = (size_t)cairo_image_surface_get_stride(decoder->surface);
    /* cairo has numbers of 32 bits in the machine's order, which is this one on all machines that libsdd knows. */
    frame->pixel_format = SDD_PIXEL_FORMAT_BGRA8_PREMULTIPLIED;
    frame->picture_width = decoder->picture_width;
    frame->picture_height = decoder->picture_height;
    return SDD_OK;
}

static void svg_close(void *given, void *user_data)
{
    struct decoder *decoder = given;
    (void)user_data;
    if (decoder->surface != NULL) cairo_surface_destroy(decoder->surface);
    body_free(&decoder->body);
    free(decoder);
}

/* ----------------------------------------------------------------- in a process that decodes apart */

/* True once this process can open no file and start no thread any more. */
static int is_isolated;

/* Threads that were started, and those of them that run. */
static gint started, running;

struct start {
    GThreadFunc function;
    gpointer data;
};

static gpointer run(gpointer given)
{
    const struct start start = *(struct start *)given;
    g_free(given);
    g_atomic_int_inc(&running);
    return start.function(start.data);
}

/* Takes the place of GLib's function for libpango, which looks for each font on a thread. A process that can have none
   does it at once. */
CODER_EXPORT GThread *g_thread_new(const gchar *name, GThreadFunc function, gpointer data);
GThread *g_thread_new(const gchar *name, GThreadFunc function, gpointer data)
{
    GThread *(*make)(const gchar *, GThreadFunc, gpointer);
    struct start *start;
    if (is_isolated) {
        function(data);
        return g_thread_ref(g_thread_self());
    }
    start = g_new(struct start, 1);
    start->function = function;
    start->data = data;
    g_atomic_int_inc(&started);
    *(void **)&make = dlsym(RTLD_NEXT, "g_thread_new");
    return make(name, run, start);
}

enum { MOST_FONTS = 48 };

/* The families that most pictures name; librsvg's own is "Times New Roman". */
static const char *const families[] = { "sans-serif", "serif",     "monospace",  "Times New Roman",
                                        "Arial",      "Helvetica", "Courier New" };

/* The fonts that are opened for as long as this process lives. */
static struct {
    FcPattern *patterns[MOST_FONTS];
    FT_Face faces[MOST_FONTS];
    int count;
} kept;

static int is_same(FcPattern *one, FcPattern *other)
{
    FcChar8 *file = NULL, *others = NULL;
    int index = 0, others_index = 0;
    if (FcPatternGetString(one, FC_FILE, 0, &file) != FcResultMatch) return 0;
    if (FcPatternGetString(other, FC_FILE, 0, &others) != FcResultMatch) return 0;
    (void)FcPatternGetInteger(one, FC_INDEX, 0, &index);
    (void)FcPatternGetInteger(other, FC_INDEX, 0, &others_index);
    return index == others_index && strcmp((const char *)file, (const char *)others) == 0;
}

static int is_kept(FcPattern *font)
{
    for (int i = 0; i < kept.count; i++)
        if (is_same(kept.patterns[i], font)) return 1;
    return 0;
}

/* Takes the place of cairo's function for libpangocairo: cairo would look whether the file is there, and open and close it
   as it likes. */
CODER_EXPORT cairo_font_face_t *cairo_ft_font_face_create_for_pattern(FcPattern *pattern);
cairo_font_face_t *cairo_ft_font_face_create_for_pattern(FcPattern *pattern)
{
    cairo_font_face_t *(*make)(FcPattern *), *made;
    *(void **)&make = dlsym(RTLD_NEXT, "cairo_ft_font_face_create_for_pattern");
    for (int i = 0; i < kept.count; i++) {
        FcPattern *opened;
        if (!is_same(kept.patterns[i], pattern)) continue;
        opened = FcPatternDuplicate(pattern);
        FcPatternAddFTFace(opened, FC_FT_FACE, kept.faces[i]);
        made = make(opened);
        FcPatternDestroy(opened);
        return made;
    }
    return make(pattern);
}

/* Opens the file of a font. */
static FT_Face face_of(FcPattern *font)
{
    static FT_Library library;
    FcChar8 *file = NULL;
    FT_Face made = NULL;
    int index = 0;
    if (library == NULL && FT_Init_FreeType(&library) != 0) return NULL;
    if (FcPatternGetString(font, FC_FILE, 0, &file) != FcResultMatch) return NULL;
    (void)FcPatternGetInteger(font, FC_INDEX, 0, &index);
    return FT_New_Face(library, (const char *)file, index, &made) == 0 ? made : NULL;
}

/* Keeps what the system has for a family, or for a language if there is one. */
static void keep(FcConfig *config, const char *family, int weight, int slant, const char *language)
{
    FcResult result = FcResultNoMatch;
    FcPattern *wanted = FcPatternCreate(), *found;
    FcPatternAddString(wanted, FC_FAMILY, (const FcChar8 *)family);
    FcPatternAddInteger(wanted, FC_WEIGHT, weight);
    FcPatternAddInteger(wanted, FC_SLANT, slant);
    if (language != NULL) FcPatternAddString(wanted, FC_LANG, (const FcChar8 *)language);
    FcConfigSubstitute(config, wanted, FcMatchPattern);
    FcDefaultSubstitute(wanted);
    found = FcFontMatch(config, wanted, &result);
    FcPatternDestroy(wanted);
    if (found == NULL) return;
    if (kept.count < MOST_FONTS && !is_kept(found) && (kept.faces[kept.count] = face_of(found)) != NULL)
        kept.patterns[kept.count++] = found;
    else
        FcPatternDestroy(found);
}

/* Leaves only the fonts of these families and of some scripts in this process, with the system's rules for the names
   of others. */
static void keep_fonts(void)
{
    static const char *const languages[] = { "ja", "zh-cn", "ko", "ar", "he", "hi", "th" };
    FcConfig *config = FcInitLoadConfigAndFonts();
    FcFontSet *fonts = config != NULL ? FcConfigGetFonts(config, FcSetSystem) : NULL;
    int count = 0;
    if (fonts == NULL) return;
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        keep(config, families[i], FC_WEIGHT_REGULAR, FC_SLANT_ROMAN, NULL);
        keep(config, families[i], FC_WEIGHT_BOLD, FC_SLANT_ROMAN, NULL);
        keep(config, families[i], FC_WEIGHT_REGULAR, FC_SLANT_ITALIC, NULL);
        keep(config, families[i], FC_WEIGHT_BOLD, FC_SLANT_ITALIC, NULL);
    }
    for (size_t i = 0; i < sizeof languages / sizeof *languages; i++)
        keep(config, families[0], FC_WEIGHT_REGULAR, FC_SLANT_ROMAN, languages[i]);
    for (int i = 0; i < fonts->nfont; i++) {
        if (is_kept(fonts->fonts[i]))
            fonts->fonts[count++] = fonts->fonts[i];
        else
            FcPatternDestroy(fonts->fonts[i]);
    }
    fonts->nfont = count;
    (void)FcConfigSetCurrent(config);
    FcConfigDestroy(config);
}

/* Returns a picture that makes librsvg and the libraries below it open files and start threads: a filter, both kinds of
   images, each face of each family. */
static GString *everything(void)
{
    GString *made = g_string_new(
        "<svg xmlns='http://www.w3.org/2000/svg' xmlns:xlink='http://www.w3.org/1999/xlink' width='99' height='99'>"
        "<filter id='f'><feGaussianBlur stdDeviation='5'/></filter><rect width='90' height='90' filter='url(#f)'/>"
        "<text y='50' font-family='sans-serif'>あ中한اאअก</text>"
        "<image width='1' height='1' xlink:href='data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACkl"
        "EQVR4nGP4DwABAQEAsTj2FAAAAABJRU5ErkJggg=='/>"
        "<image width='1' height='1' xlink:href='data:image/jpeg;base64,/9j/4AAQSkZJRgABAQAAAQABAAD/2w"
        "BDAP//////////////////////////////////////////////////////////////////////////////////////wAALCAABAA"
        "EBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAAA//EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQEAAD8AR//Z'/>");
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        g_string_append_printf(
            made,
            "<g font-family='%s' transform='translate(0 50)'><text>a</text><text font-weight='bold'>a"
            "</text><text font-style='italic'>a</text><text font-weight='bold' font-style='italic'>a"
            "</text></g>",
            families[i]);
    return g_string_append(made, "</svg>");
}

static void svg_isolate(void *user_data)
{
    enum { SIDE = 99 }; /* large enough for librsvg to share the filter among threads */
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, SIDE, SIDE);
    GString *text = everything();
    RsvgHandle *made;
    (void)user_data;
    (void)setenv("RAYON_NUM_THREADS", "1", 1);
    keep_fonts();
    made = document(text->str, text->len);
    if (made != NULL) {
        (void)draw(made, SIDE, SIDE, surface);
        g_object_unref(made);
    }
    g_string_free(text, TRUE);
    cairo_surface_destroy(surface);
    /* A thread that is starting could not register itself any more, which ends the process. */
    while (g_atomic_int_get(&running) < g_atomic_int_get(&started)) g_usleep(100);
    is_isolated = 1;
}

CODER_EXPORT const sdd_coder *sdd_coder_main(void);
const sdd_coder *sdd_coder_main(void)
{
    static const sdd_coder coder = {
        .struct_size = sizeof coder,
        .name = "svg",
        .mime_type = "image/svg+xml",
        .format = SDD_IMAGE_FORMAT_SVG,
        .can_decode = svg_can_decode,
        .open = svg_open,
        .feed = body_feed,
        .next = svg_next,
        .close = svg_close,
        .estimate = svg_estimate,
        .resize = svg_resize,
        .isolate = svg_isolate,
    };
    return &coder;
}
