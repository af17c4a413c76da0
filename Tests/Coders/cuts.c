/* What there is of files that are cut, by SDD_DAMAGE_KEEP_REST; without it they are refused. Arguments: files; of those
   whose name contains "moving" the frames, of the others the rows are compared with those of the whole file. */
#include <sdd/sdd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s, %d bytes: line %d: not so: %s\n", name, (int)length, __LINE__, #condition); \
            exit(1); \
        } \
    } while (0)

static const char *name;
static size_t length;

static sdd_image *decoded(const void *bytes, sdd_damage_mode damage, int32_t width)
{
    sdd_decode_options options = SDD_DECODE_OPTIONS_INIT;
    sdd_image *image = NULL;
    options.damage = damage;
    options.target_width = width;
    return sdd_image_decode(bytes, length, &options, &image) == SDD_OK ? image : NULL;
}

static sdd_image_info info_of(sdd_image *image)
{
    sdd_image_info info = SDD_IMAGE_INFO_INIT;
    CHECK(sdd_image_get_info(image, &info) == SDD_OK);
    return info;
}

static int same_rows(sdd_image *one, sdd_image *other, int rows)
{
    if (sdd_image_width(one) != sdd_image_width(other) || sdd_image_height(one) != sdd_image_height(other)) return 0;
    for (int y = 0; y < rows; y++)
        if (memcmp(sdd_image_pixels(one) + (size_t)y * sdd_image_stride(one),
                   sdd_image_pixels(other) + (size_t)y * sdd_image_stride(other),
                   4 * (size_t)sdd_image_width(one)) != 0)
            return 0;
    return 1;
}

/* Returns the number of whole frames, which must be those of the whole picture. */
static int check_frames(sdd_image *part, sdd_image *whole)
{
    int count = info_of(part).frame_count;
    CHECK(count <= info_of(whole).frame_count && (count == 1 || info_of(part).good_rows == sdd_image_height(part)));
    CHECK(same_rows(part, whole, strstr(name, ".jxl") == NULL ? info_of(part).good_rows : 0));
    for (int i = 0; i < count && count > 1; i++) {
        sdd_image *one = NULL, *other = NULL;
        CHECK(sdd_image_frame(part, i, &one) == SDD_OK && sdd_image_frame(whole, i, &other) == SDD_OK);
        CHECK(same_rows(one, other, sdd_image_height(other)));
        CHECK(sdd_image_frame_duration_us(part, i) == sdd_image_frame_duration_us(whole, i));
        sdd_image_release(one);
        sdd_image_release(other);
    }
    return count;
}

/* Returns what there is in hundredths: of the rows, or of the frames. */
static int check_cut(const void *bytes, sdd_image *whole, int is_moving, int is_refined)
{
    sdd_image *image, *small;
    int share;
    image = decoded(bytes, SDD_DAMAGE_REFUSE, 0);
    if (image != NULL) { /* nothing in front of the last frame of a JPEG XL tells that it is cut */
        sdd_image *last = NULL;
        int frames = info_of(image).frame_count;
        CHECK(is_moving && is_refined && sdd_image_frame(image, frames - 1, &last) == SDD_ERROR_BAD_IMAGE_DATA);
        sdd_image_release(image);
        return 100 * (frames - 1) / frames;
    }
    image = decoded(bytes, SDD_DAMAGE_KEEP_REST, 0);
    if (image == NULL) return 0;
    CHECK(info_of(image).is_partial && info_of(image).good_rows > 0);
    if (is_moving) {
        share = 100 * check_frames(image, whole) / info_of(whole).frame_count;
    } else {
        share = 100 * info_of(image).good_rows / sdd_image_height(image);
        CHECK(is_refined ? share == 100 : same_rows(image, whole, info_of(image).good_rows));
    }
    small = decoded(bytes, SDD_DAMAGE_KEEP_REST, sdd_image_width(image) / 2);
    CHECK(small != NULL && info_of(small).is_partial && info_of(small).is_scaled);
    CHECK(info_of(small).good_rows <= sdd_image_height(small));
    sdd_image_release(small);
    sdd_image_release(image);
    return share;
}

int main(int count, char **files)
{
    static unsigned char bytes[4 << 20];
    for (int i = 1; i < count; i++) {
        FILE *file = fopen(name = files[i], "rb");
        size_t size = file != NULL ? fread(bytes, 1, sizeof bytes, file) : 0;
        int is_moving = strstr(name, "moving") != NULL, is_refined = strstr(name, ".jxl") != NULL, before = 0;
        sdd_image *whole;
        length = size;
        whole = decoded(bytes, SDD_DAMAGE_KEEP_REST, 0);
        CHECK(whole != NULL && !info_of(whole).is_partial);
        printf("%s:", strrchr(name, '/') + 1);
        for (int tenths = 1; tenths < 10; tenths++) {
            int share;
            length = size * (size_t)tenths / 10 + 13; /* not where a frame ends */
            share = check_cut(bytes, whole, is_moving, is_refined);
            printf(" %d", share);
            CHECK(share >= before);
            before = share;
        }
        printf("\n");
        CHECK(before >= 50); /* with nine tenths of the file */
        sdd_image_release(whole);
        fclose(file);
    }
    return 0;
}
