/* If there is no memory for an image, a call returns an error; when there is memory again, it works. */
#include "check.h"

#include <sys/resource.h>

enum { SIDE = 6000 };

/* Limits the process's address space to so many bytes more than it has now. */
static void limit_memory(long long more)
{
    long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file != NULL && fscanf(file, "%lld", &pages) == 1);
    fclose(file);
    struct rlimit limit;
    CHECK(getrlimit(RLIMIT_AS, &limit) == 0);
    limit.rlim_cur = more < 0 ? limit.rlim_max : (rlim_t)(pages * sysconf(_SC_PAGESIZE) + more);
    CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
}

/* Makes grey noise of 36 MB, which no encoder makes much smaller. */
static sdd_image *noise(void)
{
    sdd_image *image = NULL;
    uint64_t state = 1;
    uint8_t *pixels = malloc((size_t)SIDE * SIDE);
    for (size_t i = 0; i < (size_t)SIDE * SIDE; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        pixels[i] = (uint8_t)(state >> 56);
    }
    CHECK_STATUS(sdd_image_create(SIDE, SIDE, SDD_PIXEL_FORMAT_GREY8, pixels, 0, &image), SDD_OK);
    limit_memory(10 << 20);
    sdd_image *none = (sdd_image *)1;
    CHECK_STATUS(sdd_image_create(SIDE, SIDE, SDD_PIXEL_FORMAT_GREY8, pixels, 0, &none), SDD_ERROR_NO_RESOURCES);
    CHECK(none == NULL);
    limit_memory(-1);
    free(pixels);
    return image;
}

CASE(an_encoder_reports_a_lack_of_memory)
{
    static const struct { int32_t format, progressive; } all[] = {
        { SDD_IMAGE_FORMAT_PNG, 0 },  /* no memory for the bytes */
        { SDD_IMAGE_FORMAT_JPEG, 0 }, /* no memory for the bytes */
        { SDD_IMAGE_FORMAT_JPEG, 1 }, /* no memory for libjpeg's coefficients */
    };
    OWNED_IMAGE image = noise();
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        sdd_encode_options options = SDD_ENCODE_OPTIONS_INIT;
        OWNED_BYTES bytes = (sdd_bytes *)1;
        options.format = all[i].format;
        options.progressive = all[i].progressive;
        limit_memory(10 << 20);
        CHECK_STATUS(sdd_image_encode(image, &options, &bytes), SDD_ERROR_NO_RESOURCES);
        CHECK(bytes == NULL);
        limit_memory(-1);
        options.max_width = 100;
        CHECK_STATUS(sdd_image_encode(image, &options, &bytes), SDD_OK);
    }
}

CASE(a_transform_reports_a_lack_of_memory)
{
    sdd_transform turn = SDD_TRANSFORM_INIT, corners = SDD_TRANSFORM_INIT;
    sdd_image *image = noise(), *made = (sdd_image *)1;
    turn.kind = SDD_TRANSFORM_ROTATE;
    turn.degrees = 90;
    corners.kind = SDD_TRANSFORM_ROUND_CORNERS;
    corners.radius = 9;
    limit_memory(10 << 20);
    CHECK_STATUS(sdd_image_transform(image, &turn, 1, &made), SDD_ERROR_NO_RESOURCES);
    CHECK(made == NULL);
    CHECK_STATUS(sdd_image_transform(image, &corners, 1, &made), SDD_ERROR_NO_RESOURCES);
    limit_memory(-1);
    CHECK_STATUS(sdd_image_transform(image, &turn, 1, &made), SDD_OK);
    sdd_image_release(made);
    sdd_image_release(image);
}

int main(void) { return run_cases(); }
