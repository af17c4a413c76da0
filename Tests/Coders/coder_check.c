/* Calls the coder in a shared object directly, without the library, so that a sanitizer sees only the coder:
 *
 *     coder_check frames OBJECT FILE         writes every frame as a PAM; then "FRAMES LOOPS ORIENTATION", and how many
 *                                            milliseconds each is shown, to standard error
 *     coder_check pieces OBJECT FILE         the same, the file in pieces of 7 bytes, with previews between them
 *     coder_check limit OBJECT FILE          asks with max_pixels one too small
 *     coder_check damage OBJECT FILE         every truncation, then every byte changed in several ways: the
 *                                            truncations give an error, the changes never too many frames or pixels
 *     coder_check sizes OBJECT FILE          draws the picture in other sizes
 *     coder_check changes OBJECT FILE COUNT  COUNT times: random bytes changed, some also cut, whole and in pieces
 *     coder_check near FILE OTHER            checks that two files are equally long, and no byte differs by more than 3
 *     coder_check encode OBJECT FILE QUALITY encodes the first frame of FILE with the coder
 *     coder_check animate OBJECT FILE QUALITY TIME   encodes FILE, shown three times for so many microseconds, as an
 *                                            animation; exits with status 4 if the format has no such times */
#include "checks.h"

#include <dlfcn.h>
#include <sdd/sdd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const sdd_coder *coder;
static int64_t max_pixels = 1 << 16;
static int keeps_rest;
static int asks_first = 1; /* whether decoders are asked what they will take, as the library does */

static unsigned char *read_file(const char *name, size_t *size)
{
    FILE *file = fopen(name, "rb");
    unsigned char *bytes = malloc(1 << 20);
    CHECK(file != NULL && bytes != NULL);
    *size = fread(bytes, 1, 1 << 20, file);
    fclose(file);
    return bytes;
}

/* Reads all pixels of a decoder, so that a sanitizer detects any outside its memory. */
static void check_frame(const sdd_coder_frame *frame)
{
    unsigned sum = 0;
    CHECK(frame->struct_size == sizeof *frame);
    CHECK(frame->pixel_format == SDD_PIXEL_FORMAT_RGBA8 ||
          frame->pixel_format == SDD_PIXEL_FORMAT_RGBA8_PREMULTIPLIED ||
          frame->pixel_format == SDD_PIXEL_FORMAT_BGRA8_PREMULTIPLIED);
    CHECK(frame->width > 0 && frame->height > 0 && (int64_t)frame->width * frame->height <= max_pixels);
    CHECK(frame->pixels != NULL && frame->stride >= (size_t)frame->width * 4);
    CHECK(frame->orientation >= 0 && frame->orientation <= 8 && frame->frame_count >= 0 && frame->loop_count >= 0);
    CHECK(frame->duration_us >= 0);
    CHECK(frame->good_rows >= 0 && frame->good_rows <= (keeps_rest ? frame->height : 0));
    for (int y = 0; y < frame->height; y++)
        for (int i = 0; i < frame->width * 4; i++)
            sum += ((const unsigned char *)frame->pixels)[(size_t)y * frame->stride + (size_t)i];
    *(volatile unsigned *)&sum = sum;
}

/* Asks what the picture will take. Returns SDD_ERROR_INCOMPLETE if more bytes are needed. */
static sdd_status ask_first(void *decoder, sdd_coder_estimate *estimate)
{
    const sdd_coder_estimate empty = { .struct_size = sizeof empty };
    sdd_status status = SDD_OK;
    *estimate = empty;
    if (!asks_first)
        return SDD_OK;
    CHECK(coder->estimate != NULL);
    status = coder->estimate(decoder, estimate, coder->user_data);
    /* What is drawn may be smaller than the picture. */
    CHECK(status != SDD_OK || (estimate->width > 0 && estimate->height > 0 &&
                               (coder->resize != NULL ||
                                (int64_t)estimate->width * estimate->height <= max_pixels)));
    return status;
}

/* Checks that a frame takes no more than was told before. A damaged file may have another size than its pictures. */
static void check_estimate(const sdd_coder_estimate *estimate, const sdd_coder_frame *frame)
{
    if (!asks_first)
        return;
    CHECK(estimate->decode_bytes >= (int64_t)frame->stride * frame->height);
}

/* Asks for a preview, and reads its rows. Returns 0 if no more can be asked for. */
static int check_preview(void *decoder)
{
    sdd_coder_preview preview = { .struct_size = sizeof preview, .frame.struct_size = sizeof preview.frame };
    sdd_status status = coder->preview(decoder, &preview, coder->user_data);
    sdd_coder_frame *frame = &preview.frame;
    if (status != SDD_OK && status != SDD_ERROR_INCOMPLETE)
        return 0;
    if (frame->pixels != NULL && (preview.is_refined || preview.good_rows > 0)) {
        CHECK(preview.is_refined || preview.good_rows <= frame->height);
        if (!preview.is_refined)
            frame->height = preview.good_rows;
        check_frame(frame);
    }
    return 1;
}

static void *open_fed(const unsigned char *bytes, size_t size, size_t piece, sdd_status *status,
                      sdd_coder_estimate *estimate)
{
    sdd_coder_estimate own;
    int is_known = 0;
    sdd_coder_task task = { sizeof task, 0, 0, keeps_rest ? SDD_DAMAGE_KEEP_REST : SDD_DAMAGE_REFUSE };
    void *decoder = NULL;
    size_t at = 0;
    int has_preview = coder->preview != NULL;
    task.max_pixels = max_pixels;
    CHECK(coder->open(&task, &decoder, coder->user_data) == SDD_OK && decoder != NULL);
    do {
        sdd_coder_frame frame = { .struct_size = sizeof frame };
        size_t count = size - at < piece ? size - at : piece;
        unsigned char *copy = piece < size ? malloc(count) : NULL; /* freed when the call returns */
        if (copy != NULL)
            memcpy(copy, bytes + at, count);
        *status = coder->feed(decoder, copy ? copy : bytes + at, count, at + count == size, coder->user_data);
        free(copy);
        at += count;
        if (*status == SDD_OK && at < size)
            CHECK(coder->next(decoder, &frame, coder->user_data) == SDD_ERROR_INCOMPLETE);
        if (*status == SDD_OK && at < size && has_preview && !is_known) {
            sdd_status told = ask_first(decoder, estimate ? estimate : &own);
            is_known = told == SDD_OK;
            has_preview = is_known || told == SDD_ERROR_INCOMPLETE;
        }
        if (*status == SDD_OK && at < size && has_preview && is_known)
            has_preview = check_preview(decoder);
    } while (*status == SDD_OK && at < size);
    if (*status == SDD_OK && !is_known)
        *status = ask_first(decoder, estimate ? estimate : &own);
    return decoder;
}

/* Writes a row as RGBA. */
static void write_row(const unsigned char *row, const sdd_coder_frame *frame)
{
    if (frame->pixel_format != SDD_PIXEL_FORMAT_BGRA8_PREMULTIPLIED) {
        fwrite(row, 4, (size_t)frame->width, stdout);
        return;
    }
    for (int x = 0; x < frame->width; x++, row += 4) {
        unsigned char pixel[4] = { 0, 0, 0, row[3] };
        for (int i = 0; i < 3 && row[3] > 0; i++)
            pixel[i] = (unsigned char)((row[2 - i] * 255 + row[3] / 2) / row[3]);
        fwrite(pixel, 4, 1, stdout);
    }
}

/* Returns the number of frames; `status` gets the status after the last one. */
static int read_frames(const unsigned char *bytes, size_t size, size_t piece, int writes, sdd_status *status)
{
    sdd_coder_estimate estimate;
    void *decoder = open_fed(bytes, size, piece, status, &estimate);
    int count = 0;
    while (*status == SDD_OK && count < 50) {
        sdd_coder_frame frame = { .struct_size = sizeof frame };
        *status = coder->next(decoder, &frame, coder->user_data);
        if (*status != SDD_OK)
            break;
        check_frame(&frame);
        check_estimate(&estimate, &frame);
        if (writes) {
            if (count == 0)
                fprintf(stderr, "%d %d %d\n", frame.frame_count, frame.loop_count, frame.orientation);
            fprintf(stderr, "%d\n", (int)(frame.duration_us / 1000));
            printf("P7\nWIDTH %d\nHEIGHT %d\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n", frame.width,
                   frame.height);
            for (int y = 0; y < frame.height; y++)
                write_row((const unsigned char *)frame.pixels + (size_t)y * frame.stride, &frame);
        }
        count++;
    }
    coder->close(decoder, coder->user_data);
    return count;
}

/* The copy has the exact size, so that a read past the end is detected. */
static sdd_status try_bytes(const unsigned char *bytes, size_t size, int *count)
{
    unsigned char *copy = malloc(size ? size : 1);
    sdd_status status;
    memcpy(copy, bytes, size);
    CHECK(coder->can_decode(copy, size, coder->user_data) >= -1);
    *count = read_frames(copy, size, size + 1, 0, &status);
    free(copy);
    return status;
}

static void damage(unsigned char *bytes, size_t size)
{
    static const unsigned char changes[] = { 0x01, 0x80, 0xff, 0x10 };
    sdd_status status;
    int count, whole;
    CHECK(try_bytes(bytes, size, &whole) == SDD_ERROR_NOT_FOUND && whole > 0);
    for (size_t length = 0; length < size; length++) {
        status = try_bytes(bytes, length, &count);
        /* The last byte of a GIF and the padding of a WebP's last chunk may be missing. */
        if (length + 2 < size)
            CHECK(status != SDD_ERROR_NOT_FOUND && count < whole);
        keeps_rest = 1;
        try_bytes(bytes, length, &count);
        CHECK(count <= whole);
        keeps_rest = 0;
        if (length < 12)
            CHECK(coder->can_decode(bytes, length, coder->user_data) != 0);
    }
    for (size_t at = 0; at < size; at++) {
        for (size_t change = 0; change < sizeof changes; change++) {
            bytes[at] ^= changes[change];
            keeps_rest = (int)(at + change) % 2;
            try_bytes(bytes, size, &count);
            bytes[at] ^= changes[change];
        }
    }
    keeps_rest = 0;
}

static unsigned next_random(void)
{
    static unsigned state = 1;
    state = state * 1103515245u + 12345u;
    return state >> 8;
}

/* A decoder whose preview has failed is not used further, so a piece that fails ends the try. */
static void change(const unsigned char *bytes, size_t size, int count)
{
    max_pixels = 1 << 20;
    for (int i = 0; i < count; i++) {
        size_t length = i % 3 == 0 ? next_random() % (size + 1) : size;
        unsigned char *copy = malloc(length + 1);
        sdd_status status;
        memcpy(copy, bytes, length);
        for (unsigned changes = next_random() % 6; length > 0 && changes > 0; changes--)
            copy[next_random() % (next_random() % 2 ? length : length < 200 ? length : 200)] = (unsigned char)next_random();
        copy = realloc(copy, length > 0 ? length : 1);
        asks_first = i % 5 != 0;
        keeps_rest = i % 4 == 1;
        read_frames(copy, length, i % 2 ? length + 1 : 1 + next_random() % 3000, 0, &status);
        free(copy);
    }
}

/* A frame has the size that was set, and one that is too large is refused. */
static void draw_sizes(const unsigned char *bytes, size_t size)
{
    static const int sides[][2] = { { 1, 1 }, { 7, 5 }, { 300, 200 }, { 65536, 1 }, { 1000, 1000 } };
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++) {
        int width = sides[i][0], height = sides[i][1];
        sdd_status status;
        sdd_coder_estimate first, estimate;
        sdd_coder_frame frame = { .struct_size = sizeof frame };
        void *decoder = open_fed(bytes, size, size + 1, &status, &first);
        CHECK(status == SDD_OK && coder->resize(decoder, width, height, coder->user_data) == SDD_OK);
        status = ask_first(decoder, &estimate);
        CHECK(status != SDD_OK || (estimate.width == first.width && estimate.height == first.height));
        status = coder->next(decoder, &frame, coder->user_data);
        CHECK((status == SDD_OK) == (width <= 300));
        if (status == SDD_OK) {
            check_frame(&frame);
            check_estimate(&estimate, &frame);
            CHECK(frame.width == width && frame.height == height);
            CHECK(frame.picture_width == first.width && frame.picture_height == first.height);
        }
        coder->close(decoder, coder->user_data);
    }
}

static sdd_status write_out(void *context, const void *bytes, size_t size)
{
    return fwrite(bytes, 1, size, context) == size ? SDD_OK : SDD_ERROR_NO_RESOURCES;
}

static void encode(const unsigned char *bytes, size_t size, int32_t quality)
{
    sdd_status status;
    void *decoder = open_fed(bytes, size, size + 1, &status, NULL);
    sdd_coder_frame frame = { .struct_size = sizeof frame };
    CHECK(status == SDD_OK && coder->next(decoder, &frame, coder->user_data) == SDD_OK);
    CHECK(coder->encode(&frame, quality, write_out, stdout, coder->user_data) == SDD_OK);
    coder->close(decoder, coder->user_data);
}

/* The same picture as several frames. */
struct shown {
    const sdd_coder_frame *frame;
    int left;
};

static sdd_status next_shown(void *source, sdd_coder_frame *frame)
{
    struct shown *shown = source;
    CHECK(frame->struct_size == sizeof *frame);
    if (shown->left == 0) return SDD_ERROR_NOT_FOUND;
    shown->left--;
    *frame = *shown->frame;
    /* Each differs from the one before, or else they may become one. */
    ((unsigned char *)(uintptr_t)frame->pixels)[0] ^= 0x80;
    return SDD_OK;
}

static int animate(const unsigned char *bytes, size_t size, int32_t quality, int64_t microseconds)
{
    sdd_status status;
    void *decoder = open_fed(bytes, size, size + 1, &status, NULL);
    sdd_coder_frame frame = { .struct_size = sizeof frame }, own;
    struct shown shown = { &own, 3 };
    CHECK(status == SDD_OK && coder->next(decoder, &frame, coder->user_data) == SDD_OK);
    own = frame;
    own.pixels = malloc(frame.stride * (size_t)frame.height);
    CHECK(own.pixels != NULL);
    memcpy((void *)(uintptr_t)own.pixels, frame.pixels, frame.stride * (size_t)frame.height);
    own.duration_us = microseconds;
    own.frame_count = 3;
    status = coder->encode_frames(next_shown, &shown, quality, write_out, stdout, coder->user_data);
    CHECK(status == SDD_OK || status == SDD_ERROR_UNSUPPORTED);
    free((void *)(uintptr_t)own.pixels);
    coder->close(decoder, coder->user_data);
    return status == SDD_OK ? 0 : 4;
}

static int are_near(const char *one, const char *other)
{
    size_t size, other_size, far = 0;
    unsigned char *bytes = read_file(one, &size), *others = read_file(other, &other_size);
    CHECK(size == other_size && size > 0);
    for (size_t i = 0; i < size; i++)
        if (abs(bytes[i] - others[i]) > 3)
            far++;
    free(bytes);
    free(others);
    return far == 0;
}

int main(int argc, char **argv)
{
    void *object;
    sdd_coder_main_fn get_coder;
    unsigned char *bytes;
    sdd_status status = SDD_OK;
    size_t size;
    int left = 0;
    if (argc > 3 && strcmp(argv[1], "near") == 0)
        return !are_near(argv[2], argv[3]);
    object = argc > 3 ? dlopen(argv[2], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (object == NULL) {
        fprintf(stderr, "%s\n", argc > 3 ? dlerror() : "usage: coder_check frames|pieces|limit|damage|changes|encode|animate OBJECT FILE");
        return 2;
    }
    *(void **)&get_coder = dlsym(object, "sdd_coder_main");
    CHECK(get_coder != NULL);
    coder = get_coder();
    CHECK(coder != NULL && coder->struct_size == sizeof *coder);
    bytes = read_file(argv[3], &size);
    if (strcmp(argv[1], "frames") == 0 || strcmp(argv[1], "pieces") == 0) {
        CHECK(read_frames(bytes, size, argv[1][0] == 'p' ? 7 : size + 1, 1, &status) > 0);
        CHECK(status == SDD_ERROR_NOT_FOUND);
    } else if (strcmp(argv[1], "limit") == 0) {
        void *decoder;
        sdd_coder_frame frame = { .struct_size = sizeof frame };
        max_pixels = 50;
        asks_first = size % 2;
        decoder = open_fed(bytes, size, size + 1, &status, NULL);
        if (status == SDD_OK)
            status = coder->next(decoder, &frame, coder->user_data);
        CHECK(status == SDD_DETAIL_IMAGE_TOO_MANY_PIXELS);
        coder->close(decoder, coder->user_data);
        printf("%d\n", (int)status);
    } else if (strcmp(argv[1], "damage") == 0) {
        damage(bytes, size);
    } else if (strcmp(argv[1], "sizes") == 0) {
        draw_sizes(bytes, size);
    } else if (strcmp(argv[1], "changes") == 0 && argc > 4) {
        change(bytes, size, atoi(argv[4]));
    } else if (strcmp(argv[1], "encode") == 0 && argc > 4) {
        encode(bytes, size, (int32_t)strtol(argv[4], NULL, 10));
    } else if (strcmp(argv[1], "animate") == 0 && argc > 5) {
        left = animate(bytes, size, (int32_t)strtol(argv[4], NULL, 10), strtoll(argv[5], NULL, 10));
    }
    free(bytes);
    return left;
}
