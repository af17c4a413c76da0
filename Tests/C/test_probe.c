/* sdd_image_probe() reads the facts of a picture without decoding it. */
#include "check.h"
#include "server.h"

/* Probes so many bytes, which end where their memory block ends. */
static sdd_status probe(const uint8_t *bytes, size_t size, sdd_image_info *facts)
{
    uint8_t *copy = malloc(size ? size : 1);
    if (size) memcpy(copy, bytes, size);
    *facts = (sdd_image_info)SDD_IMAGE_INFO_INIT;
    sdd_status status = sdd_image_probe(copy, size, facts);
    CHECK_EQUAL(facts->struct_size, sizeof *facts);
    if (status != SDD_OK) CHECK(facts->format == 0 && facts->stored_width == 0 && facts->frame_count == 0);
    free(copy);
    return status;
}

static sdd_image_info facts_of(const char *name)
{
    size_t size;
    uint8_t *bytes = fixture(name, &size);
    sdd_image_info facts;
    CHECK_STATUS(probe(bytes, size, &facts), SDD_OK);
    free(bytes);
    return facts;
}

CASE(c8_the_facts_of_pictures)
{
    sdd_image_info facts = facts_of("jpeg/exif-orientation.jpg");
    CHECK(facts.format == SDD_IMAGE_FORMAT_JPEG && facts.stored_width == 37 && facts.stored_height == 29);
    CHECK(facts.channels == 3 && facts.depth == 8 && facts.orientation == 6 && facts.is_progressive == 0);
    CHECK(facts.frame_count == 1 && facts.loop_count == 1);
    facts = facts_of("jpeg/ycck-progressive.jpg");
    CHECK(facts.channels == 4 && facts.is_progressive == 1 && facts.orientation == 1);
    facts = facts_of("png/grey-alpha16-interlaced.png");
    CHECK(facts.format == SDD_IMAGE_FORMAT_PNG && facts.stored_width == 19 && facts.stored_height == 13);
    CHECK(facts.channels == 2 && facts.depth == 16 && facts.is_progressive == 1);
    facts = facts_of("facts/animated.png");
    CHECK(facts.frame_count == 3 && facts.loop_count == 2);
    facts = facts_of("facts/animated-default-apart.png");
    CHECK(facts.frame_count == 2 && facts.loop_count == 0);
}

/* Prefixes of a file give SDD_ERROR_INCOMPLETE up to some length, and SDD_OK from there on. */
CASE(c8_from_a_beginning)
{
    static const char *const names[] = { "jpeg/progressive-420.jpg", "png/palette8-trns.png", "facts/animated.png" };
    for (int i = 0; i < 3; i++) {
        size_t size, first = 0;
        uint8_t *bytes = fixture(names[i], &size);
        sdd_image_info whole, facts;
        CHECK_STATUS(probe(bytes, size, &whole), SDD_OK);
        for (size_t count = 0; count <= size; count++) {
            sdd_status status = probe(bytes, count, &facts);
            if (status == SDD_OK && first == 0) first = count;
            CHECK_STATUS(status, first ? SDD_OK : SDD_ERROR_INCOMPLETE);
            if (first) CHECK(memcmp(&facts, &whole, sizeof facts) == 0);
        }
        CHECK(first > 20 && first < size);
        free(bytes);
    }
}

CASE(c10_bytes_that_are_not_a_picture)
{
    sdd_image_info facts = SDD_IMAGE_INFO_INIT;
    CHECK_STATUS(probe((const uint8_t *)"<html>", 6, &facts), SDD_ERROR_BAD_IMAGE_DATA);
    size_t size;
    uint8_t *bytes = fixture("png/bad/zero-width.png", &size);
    CHECK_STATUS(probe(bytes, size, &facts), SDD_ERROR_BAD_IMAGE_DATA);
    free(bytes);
}

int main(void) { return run_cases(); }
