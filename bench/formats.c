/* Decodes a file again and again with libsdd, for formats.py, and prints the processor time of one decode in
 * microseconds: that of all threads of the process.
 *
 *     formats FILE COUNT [WIDTH]     WIDTH: of the picture that is made; 0: as large as the file's
 *     formats FILE pixels            writes the pixels, RGBA8, to standard output
 */
#include <sdd/sdd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double cpu(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

int main(int argc, char **argv)
{
    sdd_decode_options options = SDD_DECODE_OPTIONS_INIT;
    sdd_image *image = NULL;
    FILE *file = argc > 2 ? fopen(argv[1], "rb") : NULL;
    size_t size, room = (size_t)64 << 20;
    unsigned char *bytes = malloc(room);
    sdd_image_info info = SDD_IMAGE_INFO_INIT;
    double began;
    int count;
    if (file == NULL || bytes == NULL) return 2;
    size = fread(bytes, 1, room, file);
    fclose(file);
    options.target_width = argc > 3 ? atoi(argv[3]) : 0;
    /* The first decode loads the coder. */
    if (sdd_image_decode(bytes, size, &options, &image) != SDD_OK) {
        fprintf(stderr, "%s: %s\n", argv[1], sdd_last_error_message());
        return 1;
    }
    if (strcmp(argv[2], "pixels") == 0 && sdd_image_get_info(image, &info) == SDD_OK)
        return fwrite(sdd_image_pixels(image), 1, info.pixels_size, stdout) != info.pixels_size;
    sdd_image_release(image);
    count = atoi(argv[2]);
    began = cpu();
    for (int i = 0; i < count; i++) {
        if (sdd_image_decode(bytes, size, &options, &image) != SDD_OK) return 1;
        sdd_image_release(image);
    }
    printf("%.1f\n", (cpu() - began) / count);
    free(bytes);
    return 0;
}
