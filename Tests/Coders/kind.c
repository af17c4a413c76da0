/* Says what pictures state of their colours: for each file a line with the kind, whether the pixels differ in sRGB,
   and the pixel in the middle in sRGB. */
#include "checks.h"

int main(int count, char **files)
{
    static unsigned char bytes[1 << 20];
    for (int i = 1; i < count; i++) {
        sdd_decode_options options = SDD_DECODE_OPTIONS_INIT;
        sdd_image_colour colour = SDD_IMAGE_COLOUR_INIT;
        const unsigned char *pixel;
        sdd_image *image = NULL;
        FILE *file = fopen(files[i], "rb");
        size_t size = file != NULL ? fread(bytes, 1, sizeof bytes, file) : 0;
        if (file != NULL) fclose(file);
        options.colour = SDD_COLOUR_SRGB;
        if (sdd_image_decode(bytes, size, &options, &image) != SDD_OK) {
            printf("%s\n", sdd_last_error_message());
            continue;
        }
        CHECK(sdd_image_get_colour(image, &colour) == SDD_OK);
        pixel = (const unsigned char *)sdd_image_pixels(image) +
                (size_t)(sdd_image_height(image) / 2) * sdd_image_stride(image) + 4 * (sdd_image_width(image) / 2);
        printf("%d %d %d %d %d\n", (int)colour.kind, colour.is_converted, pixel[0], pixel[1], pixel[2]);
        sdd_image_release(image);
    }
    return 0;
}
