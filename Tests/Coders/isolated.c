/* Compares pictures that processes of their own decode with those that this process decodes: sizes, frames, pixels, and
   the details of errors. Arguments: files. */
#include "checks.h"

#include <string.h>

static int same_pixels(sdd_image *a, sdd_image *b)
{
    if (sdd_image_width(a) != sdd_image_width(b) || sdd_image_height(a) != sdd_image_height(b)) return 0;
    if (sdd_image_pixel_format(a) != sdd_image_pixel_format(b)) return 0;
    if (!sdd_image_pixels(a) || !sdd_image_pixels(b)) return 0;
    for (int32_t y = 0; y < sdd_image_height(a); y++)
        if (memcmp(sdd_image_pixels(a) + (size_t)y * sdd_image_stride(a),
                   sdd_image_pixels(b) + (size_t)y * sdd_image_stride(b), (size_t)sdd_image_width(a) * 4) != 0)
            return 0;
    return 1;
}

static int same_frames(sdd_image *a, sdd_image *b)
{
    sdd_image_info info = SDD_IMAGE_INFO_INIT, others = SDD_IMAGE_INFO_INIT;
    if (sdd_image_get_info(a, &info) != SDD_OK || sdd_image_get_info(b, &others) != SDD_OK) return 0;
    if (info.frame_count != others.frame_count || info.format != others.format) return 0;
    for (int32_t i = info.frame_count - 1; i >= 0 && info.frame_count > 1; i--) {
        sdd_image *one = NULL, *other = NULL;
        int is_same = sdd_image_frame(a, i, &one) == SDD_OK && sdd_image_frame(b, i, &other) == SDD_OK &&
                      same_pixels(one, other) &&
                      sdd_image_frame_duration_us(a, i) == sdd_image_frame_duration_us(b, i);
        sdd_image_release(one);
        sdd_image_release(other);
        if (!is_same) return 0;
    }
    return same_pixels(a, b);
}

int main(int count, char **files)
{
    sdd_downloader *here = downloader_of(SDD_DECODE_ALL_IN_PROCESS), *there = downloader_of(SDD_DECODE_ISOLATED);
    int wrong = 0, compared = 0;
    for (int i = 1; i < count; i++) {
        char url[2000];
        sdd_image *one = NULL, *other = NULL;
        snprintf(url, sizeof url, "file://%s", files[i]);
        sdd_status expected = sdd_get(here, url, 0, -1, &one, NULL, NULL);
        sdd_status status = sdd_get(there, url, 0, -1, &other, NULL, NULL);
        if (status != expected || (one && !same_frames(one, other))) {
            fprintf(stderr, "%s: %s, not %s\n", files[i], sdd_status_name(status), sdd_status_name(expected));
            wrong++;
        }
        compared += one != NULL;
        sdd_image_release(one);
        sdd_image_release(other);
    }
    if (sdd_downloader_destroy(here) != SDD_OK || sdd_downloader_destroy(there) != SDD_OK) wrong++;
    printf("%d of %d files are pictures, the same from both\n", compared, count - 1);
    return wrong > 0 || compared == 0;
}
