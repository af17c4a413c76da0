/* Pixels in the application's memory, and pictures decoded without a downloader. */
#include "record.h"
#include "server.h"

#include <stdatomic.h>

/* Decodes a file of Tests/Fixtures, whose bytes end where their memory block ends. */
static sdd_status decode_file(const char *name, const sdd_decode_options *options, sdd_image **image)
{
    size_t size;
    uint8_t *bytes = fixture(name, &size), *copy = malloc(size);
    memcpy(copy, bytes, size);
    free(bytes);
    sdd_status status = sdd_image_decode(copy, size, options, image);
    free(copy);
    return status;
}

static sdd_image *image_of(const char *name, const sdd_decode_options *options)
{
    sdd_image *image = NULL;
    CHECK_STATUS(decode_file(name, options, &image), SDD_OK);
    CHECK(image != NULL);
    return image;
}

/* Returns the pixels of a .pam file. The caller frees them. */
static uint8_t *pam_pixels(const char *name)
{
    size_t size;
    uint8_t *bytes = fixture(name, &size);
    uint8_t *end = (uint8_t *)strstr((char *)bytes, "ENDHDR\n");
    CHECK(end != NULL);
    memmove(bytes, end + 7, size - (size_t)(end + 7 - bytes));
    return bytes;
}

/* ------------------------------------------------------------------------------ without a downloader */

CASE(z15_bytes_in_memory_are_decoded)
{
    int threads = count_threads();
    OWNED_IMAGE image = image_of("facts/orientation.png", NULL);
    uint8_t *expected = pam_pixels("facts/orientation.upright.pam");
    CHECK(sdd_image_width(image) == 13 && sdd_image_height(image) == 19 && sdd_image_stride(image) == 13 * 4);
    CHECK_EQUAL(image_info(image).pixels_size, 13 * 19 * 4);
    CHECK(memcmp(sdd_image_pixels(image), expected, 13 * 19 * 4) == 0);
    size_t size;
    uint8_t *bytes = fixture("facts/orientation.png", &size);
    CHECK_EQUAL(sdd_bytes_size(sdd_image_bytes(image)), size);
    CHECK(memcmp(sdd_bytes_data(sdd_image_bytes(image)), bytes, size) == 0);
    CHECK_EQUAL(count_threads(), threads);
    free(bytes);
    free(expected);
}

CASE(z15_an_image_has_info)
{
    sdd_decode_options options = SDD_DECODE_OPTIONS_INIT;
    sdd_image_info info = SDD_IMAGE_INFO_INIT;
    options.pixel_format = SDD_PIXEL_FORMAT_RGB8_PLANAR;
    options.row_alignment = 64;
    sdd_image *image = image_of("facts/orientation.png", &options);
    CHECK_STATUS(sdd_image_get_info(image, &info), SDD_OK);
    CHECK(info.struct_size == sizeof info && sdd_image_stride(image) == 64 && info.pixels_size == 64 * 19 * 3);
    CHECK(sdd_image_width(image) == 13 && sdd_image_height(image) == 19);
    CHECK_EQUAL(sdd_image_pixel_format(image), SDD_PIXEL_FORMAT_RGB8_PLANAR);
    CHECK(info.format == SDD_IMAGE_FORMAT_PNG && info.stored_width == 19 && info.stored_height == 13);
    CHECK(info.orientation == 5 && info.depth == 8 && info.channels == 4 && info.is_scaled == 0);
    CHECK(info.good_rows == 13 && info.is_preview == 0 && info.is_partial == 0);
    sdd_image_release(image);
    options = (sdd_decode_options)SDD_DECODE_OPTIONS_INIT;
    options.target_width = 6;
    options.keep_orientation = 1;
    image = image_of("jpeg/cmyk-adobe.jpg", &options);
    CHECK_STATUS(sdd_image_get_info(image, &info), SDD_OK);
    CHECK(sdd_image_width(image) == 6 && sdd_image_height(image) == 5 && info.stored_width == 37 &&
          info.stored_height == 29);
    CHECK(info.orientation == 1 && info.channels == 4 && info.is_scaled == 1 && info.good_rows == 5);
    info.struct_size = 0;
    CHECK_STATUS(sdd_image_get_info(image, &info), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(sdd_image_get_info(NULL, &info), SDD_ERROR_INVALID_ARGUMENT);
    sdd_image_release(image);
    CHECK_EQUAL(image_info(NULL).pixels_size, 0);
}

CASE(c10_a_body_that_is_not_a_picture_has_a_detail)
{
    static const struct { const char *name; int32_t detail; } all[] = {
        { "facts/facts.txt", SDD_DETAIL_IMAGE_UNKNOWN_FORMAT }, { "png/bad/no-idat.png", SDD_DETAIL_IMAGE_CORRUPT },
        { "png/bad/zero-width.png", SDD_DETAIL_IMAGE_ZERO_PIXELS },
        { "png/bad/huge.png", SDD_DETAIL_IMAGE_TOO_MANY_PIXELS },
        { "jpeg/bad/twelve-bit.jpg", SDD_DETAIL_IMAGE_UNSUPPORTED },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        sdd_image *image = (sdd_image *)&image;
        CHECK_FAILS(decode_file(all[i].name, NULL, &image), SDD_ERROR_BAD_IMAGE_DATA, all[i].detail);
        CHECK(image == NULL);
    }
}

/* --------------------------------------------------------------------------------------- 16 bits */

CASE(c7_sixteen_bits_are_kept)
{
    sdd_decode_options options = SDD_DECODE_OPTIONS_INIT;
    options.pixel_format = SDD_PIXEL_FORMAT_RGBA16;
    size_t size;
    uint8_t *expected = fixture("png/rgba16.rgba16", &size);
    OWNED_IMAGE image = image_of("png/rgba16.png", &options);
    CHECK_EQUAL(image_info(image).pixels_size, size);
    const uint16_t *channels = (const uint16_t *)(const void *)sdd_image_pixels(image);
    for (size_t i = 0; i < size / 2; i++) CHECK_EQUAL(channels[i], expected[i * 2] << 8 | expected[i * 2 + 1]);
    free(expected);
}

/* ------------------------------------------------------------------------------ a caller's buffer */

enum { ROW = 13 * 4, ROWS = 19 }; /* of facts/orientation.png */

static sdd_decode_options into(void *pixels, size_t size, size_t stride)
{
    sdd_decode_options options = SDD_DECODE_OPTIONS_INIT;
    options.pixels = pixels;
    options.pixels_size = size;
    options.pixels_stride = stride;
    return options;
}

CASE(z15_pixels_go_into_a_buffer)
{
    static const size_t strides[] = { 0, ROW, ROW + 1, ROW + 44 };
    uint8_t *expected = pam_pixels("facts/orientation.upright.pam");
    for (int i = 0; i < 4; i++) {
        size_t stride = strides[i] ? strides[i] : ROW, size = stride * (ROWS - 1) + ROW;
        uint8_t *pixels = malloc(size); /* the address sanitizer watches its end */
        memset(pixels, 0xa5, size);
        sdd_decode_options options = into(pixels, size, strides[i]);
        sdd_image *image = image_of("facts/orientation.png", &options);
        CHECK(sdd_image_pixels(image) == pixels && sdd_image_stride(image) == stride);
        CHECK_EQUAL(image_info(image).pixels_size, size);
        for (size_t y = 0; y < ROWS; y++) {
            CHECK(memcmp(pixels + y * stride, expected + y * ROW, ROW) == 0);
            for (size_t x = ROW; y < ROWS - 1 && x < stride; x++) CHECK_EQUAL(pixels[y * stride + x], 0xa5);
        }
        sdd_image_release(image);
        options.pixels_size--;
        CHECK_FAILS(decode_file("facts/orientation.png", &options, &image), SDD_ERROR_BAD_IMAGE_DATA,
                    SDD_DETAIL_IMAGE_BUFFER_TOO_SMALL);
        free(pixels);
    }
    /* No buffer is as large as rows of this length. */
    sdd_decode_options far = into(expected, 0, INT64_MAX);
    sdd_image *none = NULL;
    CHECK_FAILS(decode_file("facts/orientation.png", &far, &none), SDD_ERROR_BAD_IMAGE_DATA,
                SDD_DETAIL_IMAGE_BUFFER_TOO_SMALL);
    free(expected);
}

/* All requests share one body: each has its own buffer, and one whose buffer is too small fails alone, with the size
   that it needs. */
CASE(z15_requests_have_buffers)
{
    sdd_downloader *downloader = make_downloader(NULL);
    uint8_t *expected = pam_pixels("facts/orientation.upright.pam"), *pixels[3];
    record records[3];
    for (int i = 0; i < 3; i++) {
        size_t size = ROW * ROWS - (i == 1);
        pixels[i] = malloc(size);
        records[i] = (record)RECORD_INIT;
        sdd_decode_options options = into(pixels[i], size, 0);
        sdd_download_request request = record_request(&records[i], at("/hold/buffers?file=facts/orientation.png"));
        request.decode = &options;
        submit(downloader, &request);
    }
    wait_for_requests("/hold/buffers", 1);
    release("buffers");
    for (int i = 0; i < 3; i++) {
        record_wait(&records[i]);
        if (i == 1) continue;
        CHECK_ENDED(&records[i], SDD_OK, 0);
        CHECK(sdd_image_pixels(records[i].image) == pixels[i] && memcmp(pixels[i], expected, ROW * ROWS) == 0);
    }
    CHECK_ENDED(&records[1], SDD_ERROR_BAD_IMAGE_DATA, SDD_DETAIL_IMAGE_BUFFER_TOO_SMALL);
    CHECK_TEXT(records[1].message, "The buffer for the pixels is too small (988 bytes for 13 x 19 pixels).");
    CHECK_EQUAL(requests_of("/hold/buffers"), 1);
    for (int i = 0; i < 3; i++) {
        record_clear(&records[i]);
        free(pixels[i]);
    }
    destroy(downloader);
    free(expected);
}

/* ----------------------------------------------------------------------------------- an allocator */

typedef struct pool {
    atomic_int given, back;
    atomic_size_t size; /* of the last allocation */
    int is_empty, is_odd;
} pool;

static void *pool_allocate(size_t size, size_t alignment, void *user_data)
{
    pool *it = user_data;
    void *pixels = NULL;
    CHECK(alignment >= 16 && (alignment & (alignment - 1)) == 0 && size > 0);
    if (it->is_empty || posix_memalign(&pixels, alignment, size + (it->is_odd ? 8 : 0)) != 0) return NULL;
    atomic_fetch_add(&it->given, 1);
    atomic_store(&it->size, size);
    return (uint8_t *)pixels + (it->is_odd ? 8 : 0);
}

static void pool_release(void *pixels, size_t size, void *user_data)
{
    pool *it = user_data;
    CHECK_EQUAL(size, atomic_load(&it->size));
    atomic_fetch_add(&it->back, 1);
    free((uint8_t *)pixels - (it->is_odd ? 8 : 0));
}

static sdd_pixel_allocator allocator_of(pool *it)
{
    sdd_pixel_allocator allocator = SDD_PIXEL_ALLOCATOR_INIT;
    allocator.allocate = pool_allocate;
    allocator.release = pool_release;
    allocator.user_data = it;
    return allocator;
}

CASE(z15_pixels_come_from_an_allocator)
{
    for (int32_t format = 0; format <= SDD_PIXEL_FORMAT_RGB8_PLANAR; format++) {
        pool it = { 0 };
        sdd_pixel_allocator allocator = allocator_of(&it);
        sdd_decode_options options = SDD_DECODE_OPTIONS_INIT;
        options.pixel_format = format;
        options.row_alignment = 256;
        OWNED_IMAGE packed = image_of("jpeg/exif-orientation.jpg", &options);
        options.allocator = &allocator;
        sdd_image *image = image_of("jpeg/exif-orientation.jpg", &options);
        CHECK((uintptr_t)sdd_image_pixels(image) % 256 == 0 && sdd_image_stride(image) % 256 == 0);
        CHECK_EQUAL(image_info(image).pixels_size, it.size);
        CHECK_EQUAL(image_info(packed).pixels_size, it.size);
        size_t planes = format == SDD_PIXEL_FORMAT_RGB8_PLANAR ? 3 : 1, rows = planes * 37;
        for (size_t y = 0; y < rows; y++) /* 29 pixels of at least a byte */
            CHECK(memcmp(sdd_image_pixels(image) + y * sdd_image_stride(image),
                         sdd_image_pixels(packed) + y * sdd_image_stride(packed), 29) == 0);
        CHECK(it.given == 1 && it.back == 0);
        sdd_image_release(image);
        CHECK(it.given == 1 && it.back == 1);
    }
}

CASE(z15_memory_of_a_failed_decode_is_freed)
{
    static const char *const names[] = { "png/bad/idat-wrong-crc.png", "jpeg/bad/two-ends.jpg" };
    pool it = { 0 };
    sdd_pixel_allocator allocator = allocator_of(&it);
    sdd_decode_options options = SDD_DECODE_OPTIONS_INIT;
    options.allocator = &allocator;
    sdd_image *image = NULL;
    for (int i = 0; i < 2; i++) {
        CHECK_STATUS(decode_file(names[i], &options, &image), SDD_ERROR_BAD_IMAGE_DATA);
        CHECK(it.given == i + 1 && it.back == i + 1 && last_detail() != SDD_DETAIL_IMAGE_NO_MEMORY);
    }
    it.is_odd = 1;
    CHECK_FAILS(decode_file("png/rgb8.png", &options, &image), SDD_ERROR_BAD_IMAGE_DATA, SDD_DETAIL_IMAGE_NO_MEMORY);
    CHECK(it.given == 3 && it.back == 3);
    it.is_empty = 1;
    CHECK_FAILS(decode_file("png/rgb8.png", &options, &image), SDD_ERROR_BAD_IMAGE_DATA, SDD_DETAIL_IMAGE_NO_MEMORY);
    CHECK(it.given == 3 && it.back == 3);
}

/* A downloader's allocator serves all its requests, and its images outlive the downloader. */
CASE(z15_a_downloader_has_an_allocator)
{
    pool it = { 0 };
    OWNED_RECORD r = RECORD_INIT;
    sdd_downloader *downloader = make_downloader(NULL);
    {
        sdd_pixel_allocator allocator = allocator_of(&it); /* copied with the options */
        sdd_decode_options options = SDD_DECODE_OPTIONS_INIT;
        options.allocator = &allocator;
        CHECK_STATUS(sdd_downloader_set_decode_options(downloader, &options), SDD_OK);
    }
    fetch(downloader, &r, at("/file/facts/orientation.png"), 0);
    CHECK_ENDED(&r, SDD_OK, 0);
    CHECK_EQUAL(it.given, 1);
    sdd_image *image = sdd_image_retain(r.image);
    record_clear(&r);
    it.is_empty = 1;
    fetch(downloader, &r, at("/file/facts/orientation.png"), 0);
    CHECK_ENDED(&r, SDD_ERROR_BAD_IMAGE_DATA, SDD_DETAIL_IMAGE_NO_MEMORY);
    destroy(downloader);
    CHECK_EQUAL(it.back, 0);
    sdd_image_release(image);
    CHECK(it.given == 1 && it.back == 1);
}

/* --------------------------------------------------------------------------------------- enlarging */

CASE(z15_pictures_grow_only_when_asked)
{
    sdd_decode_options options = SDD_DECODE_OPTIONS_INIT;
    options.target_width = 52;
    sdd_image *image = image_of("facts/orientation.png", &options);
    CHECK(sdd_image_width(image) == 13 && sdd_image_height(image) == 19);
    sdd_image_release(image);
    options.allow_enlarging = 1;
    image = image_of("facts/orientation.png", &options);
    CHECK(sdd_image_width(image) == 52 && sdd_image_height(image) == 76);
    sdd_image_release(image);
    /* The height follows from the picture, within the limit. */
    options.target_width = 0x7fffffff;
    CHECK_FAILS(decode_file("png/size-3x17.png", &options, &image), SDD_ERROR_BAD_IMAGE_DATA,
                SDD_DETAIL_IMAGE_TOO_MANY_PIXELS);
}

int main(void) { return run_cases(); }
