/* Encodes an animation with all its frames, or makes one of several pictures:
 *
 *     animate FORMAT QUALITY TARGET FILE             the animation in FILE
 *     animate FORMAT QUALITY TARGET LOOPS MS FILE... the pictures, each shown for so many milliseconds */
#include <sdd/sdd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(sdd_status status, const char *what)
{
    if (status == SDD_OK) return;
    fprintf(stderr, "%s: %s\n", what, sdd_last_error_message());
    exit(1);
}

static sdd_image *decoded(const char *name)
{
    static unsigned char bytes[16 << 20];
    FILE *file = fopen(name, "rb");
    size_t size = file != NULL ? fread(bytes, 1, sizeof bytes, file) : 0;
    sdd_image *image = NULL;
    must(sdd_image_decode(bytes, size, NULL, &image), name);
    fclose(file);
    return image;
}

int main(int count, char **words)
{
    static sdd_animation_frame frames[100];
    sdd_encode_options options = SDD_ENCODE_OPTIONS_INIT;
    sdd_image *image = NULL;
    sdd_bytes *encoded = NULL;
    FILE *target;
    if (count < 5) return 2;
    if (count == 5) {
        image = decoded(words[4]);
    } else {
        int made = 0;
        for (int i = 6; i < count; i++, made++) {
            frames[made].struct_size = sizeof *frames;
            frames[made].image = decoded(words[i]);
            frames[made].duration_us = strtoll(words[5], NULL, 10) * 1000;
        }
        must(sdd_image_create_animation(frames, (size_t)made, atoi(words[4]), &image), "create_animation");
        while (made > 0) sdd_image_release(frames[--made].image);
    }
    options.format = atoi(words[1]);
    options.quality = atoi(words[2]);
    options.animated = 1;
    must(sdd_image_encode(image, &options, &encoded), words[3]);
    target = fopen(words[3], "wb");
    if (target == NULL || fwrite(sdd_bytes_data(encoded), 1, sdd_bytes_size(encoded), target) != sdd_bytes_size(encoded)) return 1;
    fclose(target);
    sdd_bytes_release(encoded);
    sdd_image_release(image);
    return 0;
}
