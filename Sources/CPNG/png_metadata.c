#include "CPNG.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>

/*
 * libpng does not expose its inflate code, but it unpacks texts and profiles. So the data is read as that of a zTXt
 * or iCCP chunk, in a PNG that is made up while libpng reads it: signature and header, the chunk, and the head of an
 * IDAT chunk, where png_read_info() stops.
 */

/* CHUNK_SIZE covers the length, the name, a keyword with its NUL and the compression method. */
enum { HEADER_SIZE = 33, COLOUR_TYPE = 25, CHUNK_HEAD = 8, CHUNK_SIZE = 11, PIECES = 4 };

/* What libpng and zlib allocate for themselves is smaller. */
enum { OWN_MEMORY = 1 << 16 };

struct unpacking {
    struct {
        const uint8_t *bytes;
        size_t size;
    } pieces[PIECES];
    int piece;
    uint8_t header[HEADER_SIZE];
    uint8_t chunk[CHUNK_SIZE];
    png_structp png;
    png_infop info;
    void *unpacked;
    size_t unpacked_size;
    size_t limit;
    sddp_status status;
    bool no_memory;
    jmp_buf escape;
};

/* --------------------------------------------------------------------------- libpng callbacks */

/* libpng 1.6 reports only by message text why it drops a text. It gives the same message for one over the limit and
   for truncated data, which is rare in a chunk with a valid checksum. */
static void on_warning(png_structp png, png_const_charp message)
{
    struct unpacking *u = png_get_error_ptr(png);
    if (strcmp(message, "zTXt: truncated") == 0) u->status = SDDP_TOO_LARGE;
}

static _Noreturn void on_error(png_structp png, png_const_charp message)
{
    struct unpacking *u = png_get_error_ptr(png);
    on_warning(png, message);
    longjmp(u->escape, 1);
}

static png_voidp allocate(png_structp png, png_alloc_size_t size)
{
    struct unpacking *u = png_get_mem_ptr(png);
    /* libpng allocates a profile in one piece once it has unpacked its head, which states the size. */
    if (size > u->limit + 4 && size > OWN_MEMORY) {
        u->status = SDDP_TOO_LARGE;
        return NULL;
    }
    void *memory = malloc(size);
    if (memory == NULL) u->no_memory = true;
    return memory;
}

static void release(png_structp png, png_voidp memory)
{
    (void)png;
    free(memory);
}

static void read_bytes(png_structp png, png_bytep bytes, size_t size)
{
    struct unpacking *u = png_get_io_ptr(png);
    while (size > 0) {
        if (u->piece == PIECES) png_error(png, "the data ends too early");
        size_t taken = u->pieces[u->piece].size;
        if (taken > size) taken = size;
        if (taken > 0) memcpy(bytes, u->pieces[u->piece].bytes, taken);
        u->pieces[u->piece].bytes += taken;
        u->pieces[u->piece].size -= taken;
        if (u->pieces[u->piece].size == 0) u->piece++;
        bytes += taken;
        size -= taken;
    }
}

/* ---------------------------------------------------------------------------------- unpacking */

static void set_piece(struct unpacking *u, int number, const void *bytes, size_t size)
{
    u->pieces[number].bytes = bytes;
    u->pieces[number].size = size;
}

static void make_pieces(struct unpacking *u, sddp_packed_kind kind, const void *packed, size_t size)
{
    /* A header for one grey pixel. Checksums are ignored, see unpack(). */
    static const uint8_t header[HEADER_SIZE] = { 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n', 0, 0, 0, 13, 'I',
                                                 'H',  'D', 'R', 0,   0,    0,    1,    0,    0, 0, 1, 8 };
    static const uint8_t text[CHUNK_SIZE] = { 0, 0, 0, 0, 'z', 'T', 'X', 't', 'x', 0, 0 };
    static const uint8_t profile[CHUNK_SIZE] = { 0, 0, 0, 0, 'i', 'C', 'C', 'P', 'x', 0, 0 };
    static const uint8_t end[] = { 0, 0, 0, 0, 0, 0, 0, 0, 'I', 'D', 'A', 'T' };
    memcpy(u->header, header, HEADER_SIZE);
    /* libpng accepts a profile only if both it and the pixels are colour, or both are grey. */
    if (kind == SDDP_COLOUR_PROFILE) u->header[COLOUR_TYPE] = PNG_COLOR_TYPE_RGB;
    memcpy(u->chunk, kind == SDDP_TEXT ? text : profile, CHUNK_SIZE);
    png_save_uint_32(u->chunk, (png_uint_32)(size + CHUNK_SIZE - CHUNK_HEAD));
    set_piece(u, 0, u->header, HEADER_SIZE);
    set_piece(u, 1, u->chunk, CHUNK_SIZE);
    set_piece(u, 2, packed, size);
    set_piece(u, 3, end, sizeof end);
}

static void take(struct unpacking *u, const void *bytes, size_t size)
{
    if (size > u->limit) {
        u->status = SDDP_TOO_LARGE;
        return;
    }
    u->unpacked = size > 0 ? malloc(size) : NULL;
    u->no_memory = size > 0 && u->unpacked == NULL;
    if (u->unpacked != NULL) memcpy(u->unpacked, bytes, size);
    u->unpacked_size = size;
    u->status = SDDP_OK;
}

__attribute__((noinline)) static void unpack(struct unpacking *u, sddp_packed_kind kind)
{
    png_textp text = NULL;
    png_charp name = NULL;
    png_bytep profile = NULL;
    png_uint_32 size = 0;
    int method = 0;
    u->png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, u, on_error, on_warning, u, allocate, release);
    if (u->png == NULL) return;
    u->info = png_create_info_struct(u->png);
    if (u->info == NULL) return;
    /* libpng counts a text before it allocates memory for it, so it must know the limit, which also covers the keyword
       with its NUL, the compression method and a NUL after the text. Profiles are limited by allocate(). */
    png_set_chunk_malloc_max(u->png, kind == SDDP_TEXT ? u->limit + 4 : 0);
    png_set_crc_action(u->png, PNG_CRC_QUIET_USE, PNG_CRC_QUIET_USE);
    png_set_read_fn(u->png, u, read_bytes);
    png_read_info(u->png, u->info);
    if (kind == SDDP_TEXT) {
        if (png_get_text(u->png, u->info, &text, NULL) == 1) take(u, text->text, text->text_length);
    } else if (png_get_iCCP(u->png, u->info, &name, &method, &profile, &size) != 0) {
        take(u, profile, size);
    }
}

/* Contains the setjmp call; unpack() runs inside it. */
sddp_status sddp_unpack(sddp_packed_kind kind, const void *packed, size_t size, size_t limit, void **unpacked,
                        size_t *unpacked_size)
{
    if (limit > PNG_UINT_31_MAX / 2) limit = PNG_UINT_31_MAX / 2;
    if (size > limit) return SDDP_TOO_LARGE;
    struct unpacking *u = calloc(1, sizeof *u);
    if (u == NULL) return SDDP_NO_MEMORY;
    make_pieces(u, kind, packed, size);
    u->status = SDDP_CORRUPT;
    u->limit = limit;
    if (setjmp(u->escape) == 0) unpack(u, kind);
    png_destroy_read_struct(&u->png, &u->info, NULL); /* accepts NULL */
    const sddp_status status = u->no_memory ? SDDP_NO_MEMORY : u->status;
    if (status == SDDP_OK) {
        *unpacked = u->unpacked;
        *unpacked_size = u->unpacked_size;
    } else {
        free(u->unpacked);
    }
    free(u);
    return status;
}
