/* cc -std=c99 -O2 probe.c $(pkg-config --cflags --libs sdd) -o probe
 *
 * probe: prints the format, size and other facts of pictures in files, without decoding them. It reads each file only
 * as far as needed, as a program would do with bytes that are still arriving.
 *
 *     probe FILE...
 *
 * Exit status 0: all of them are pictures.
 */
#include <sdd/sdd.h>
#include <stdio.h>
#include <stdlib.h>

static int probe(const char *name)
{
    FILE *file = fopen(name, "rb");
    if (!file) {
        perror(name);
        return 0;
    }
    sdd_image_info info = SDD_IMAGE_INFO_INIT;
    sdd_status status = SDD_ERROR_INCOMPLETE;
    size_t size = 0, room = 4096;
    char *bytes = NULL;
    do { /* reads twice as much each time, so that the total work stays small */
        room *= 2;
        char *grown = realloc(bytes, room);
        if (!grown) break;
        bytes = grown;
        size += fread(bytes + size, 1, room - size, file);
        status = sdd_image_probe(bytes, size, &info);
    } while (status == SDD_ERROR_INCOMPLETE && size == room);
    free(bytes);
    fclose(file);
    if (status != SDD_OK) {
        printf("%s: %s\n", name, sdd_last_error_message());
        return 0;
    }
    printf("%s: %s, %d x %d, %d channels of %d bits", name, info.format == SDD_IMAGE_FORMAT_PNG ? "PNG" : "JPEG",
           info.stored_width, info.stored_height, info.channels, info.depth);
    if (info.is_progressive) printf(", %s", info.format == SDD_IMAGE_FORMAT_PNG ? "interlaced" : "progressive");
    if (info.frame_count > 1) printf(", %d frames", info.frame_count);
    if (info.orientation != 1) printf(", orientation %d", info.orientation);
    printf("\n");
    return 1;
}

int main(int argc, char **argv)
{
    int good = argc > 1;
    for (int i = 1; i < argc; i++) good &= probe(argv[i]);
    if (argc < 2) fprintf(stderr, "usage: probe FILE...\n");
    return argc < 2 ? 2 : !good;
}
