/* Profiles, Exif, XMP and texts of pictures: row B32. */
#include "record.h"
#include "server.h"

#include <pthread.h>

static sdd_image *get(const char *name)
{
    sdd_image *image = NULL;
    CHECK_STATUS(sdd_get(NULL, atf("/file/metadata/%s", name), 0, -1, &image, NULL, NULL), SDD_OK);
    return image;
}

static const struct { int32_t kind; const char *ending; } kinds[] = {
    { SDD_METADATA_ICC, "icc" }, { SDD_METADATA_EXIF, "exif" }, { SDD_METADATA_XMP, "xmp" },
};

static void check_blocks(sdd_image *image, const char *name)
{
    for (int i = 0; i < 3; i++) {
        char path[64];
        const void *data = NULL, *again = NULL;
        size_t size = 0, expected_size;
        snprintf(path, sizeof path, "metadata/%s.%s", name, kinds[i].ending);
        uint8_t *expected = fixture(path, &expected_size);
        CHECK_STATUS(sdd_image_metadata(image, kinds[i].kind, &data, &size), SDD_OK);
        CHECK(size == expected_size && memcmp(data, expected, size) == 0);
        CHECK_STATUS(sdd_image_metadata(image, kinds[i].kind, &again, &size), SDD_OK);
        CHECK(again == data);
        free(expected);
    }
}

CASE(b32_metadata_written_by_pillow)
{
    OWNED_IMAGE image = get("pillow.png");
    check_blocks(image, "pillow");
    sdd_image_release(image);
    image = get("pillow.jpg");
    check_blocks(image, "pillow-jpeg");
}

static sdd_image_text text_of(sdd_image *image, size_t index)
{
    sdd_image_text text = SDD_IMAGE_TEXT_INIT;
    CHECK_STATUS(sdd_image_text_at(image, index, &text), SDD_OK);
    return text;
}

CASE(b32_texts)
{
    OWNED_IMAGE image = get("kinds.png");
    CHECK_EQUAL(sdd_image_text_count(image), 9);
    sdd_image_text text = text_of(image, 2);
    CHECK_TEXT(text.keyword, "Packed");
    CHECK_TEXT(text.text, "caf\xc3\xa9");
    CHECK(text.text_size == 5 && *text.language == 0 && *text.translated_keyword == 0);
    text = text_of(image, 3);
    CHECK_TEXT(text.keyword, "Plain");
    CHECK_TEXT(text.text, "f\xc3\xbcr");
    CHECK_TEXT(text.language, "de");
    CHECK_TEXT(text.translated_keyword, "Schl\xc3\xbcssel");
    text = text_of(image, 1);
    CHECK_TEXT(text.text, "");
    CHECK_EQUAL(text.text_size, 0);
    /* The text contains an invalid NUL. */
    text = text_of(image, 7);
    CHECK(text.text_size == 3 && memcmp(text.text, "a\0b", 4) == 0);
    sdd_image_release(image);

    image = get("kinds.jpg");
    CHECK_EQUAL(sdd_image_text_count(image), 3);
    text = text_of(image, 1);
    CHECK_TEXT(text.keyword, "Comment");
    CHECK_TEXT(text.text, "caf\xc3\xa9");
}

CASE(b32_damaged_or_too_large_metadata)
{
    static const struct { const char *name; int32_t kind, detail; } all[] = {
        { "bad/icc-wrong-crc.png", SDD_METADATA_ICC, SDD_DETAIL_IMAGE_CORRUPT },
        { "bad/icc-bomb.png", SDD_METADATA_ICC, SDD_DETAIL_IMAGE_CORRUPT },
        { "bad/icc-large.png", SDD_METADATA_ICC, SDD_DETAIL_IMAGE_CHUNK_TOO_LARGE },
        { "bad/icc-missing.jpg", SDD_METADATA_ICC, SDD_DETAIL_IMAGE_CORRUPT },
        { "bad/exif-wrong-crc.png", SDD_METADATA_EXIF, SDD_DETAIL_IMAGE_CORRUPT },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        OWNED_IMAGE image = get(all[i].name);
        const void *data = image;
        size_t size = 7;
        CHECK_FAILS(sdd_image_metadata(image, all[i].kind, &data, &size), SDD_ERROR_BAD_IMAGE_DATA, all[i].detail);
        CHECK(data == NULL && size == 0);
    }
    OWNED_IMAGE image = get("bad/text-bombs.png");
    CHECK_EQUAL(sdd_image_text_count(image), 1);
    CHECK_TEXT(text_of(image, 0).text, "good");
}

/* ------------------------------------------------------------------------------------- threads */

static void *read_profile(void *image)
{
    const void *data = NULL;
    size_t size = 0;
    CHECK_STATUS(sdd_image_metadata((sdd_image *)image, SDD_METADATA_ICC, &data, &size), SDD_OK);
    CHECK(size > 128 && memcmp((const char *)data + 36, "acsp", 4) == 0);
    CHECK_EQUAL(sdd_image_text_count((sdd_image *)image), 4);
    return (void *)(uintptr_t)data;
}

/* All threads that ask first get the same data. */
CASE(b32_several_threads_at_a_time)
{
    for (int turn = 0; turn < scaled(50); turn++) {
        pthread_t threads[4];
        void *found[4];
        OWNED_IMAGE image = get("pillow.png");
        for (int i = 0; i < 4; i++) CHECK(pthread_create(&threads[i], NULL, read_profile, image) == 0);
        for (int i = 0; i < 4; i++) pthread_join(threads[i], &found[i]);
        for (int i = 1; i < 4; i++) CHECK(found[i] == found[0]);
    }
}

/* A frame has no bytes, and so no metadata. */
CASE(a_frame_has_no_metadata)
{
    sdd_image *image = NULL, *frame = NULL;
    const void *data;
    size_t size;
    CHECK_STATUS(sdd_get(NULL, at("/file/frames/pieces.png"), 0, -1, &image, NULL, NULL), SDD_OK);
    CHECK_EQUAL(sdd_image_text_count(image), 23); /* one after each fdAT chunk */
    CHECK_STATUS(sdd_image_frame(image, 1, &frame), SDD_OK);
    CHECK_EQUAL(sdd_image_text_count(frame), 0);
    CHECK_STATUS(sdd_image_metadata(frame, SDD_METADATA_ICC, &data, &size), SDD_ERROR_NOT_FOUND);
    sdd_image_release(frame);
    sdd_image_release(image);
}

int main(void) { return run_cases(); }
