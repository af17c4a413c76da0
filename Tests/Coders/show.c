/* Decodes a file in one of four ways, and says what has come of it:
 *
 *     show default|isolated|all|call FILE [WIDTH HEIGHT FIT ENLARGE]
 *
 * The first three are modes of decoding of a downloader; "call" is sdd_image_decode(). Writes the pixels as a PAM, and to
 * standard error a line: status, detail, stored width and height, and the message. */
#include <sdd/sdd.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static sdd_status get(const char *way, const char *file, const sdd_decode_options *options, sdd_image **image)
{
    sdd_network_options network = SDD_NETWORK_OPTIONS_INIT;
    sdd_limits limits = SDD_LIMITS_INIT;
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    sdd_downloader *downloader = NULL;
    char url[2000];
    sdd_status status;
    limits.decode_time_ms = 1000;
    network.allow_file_urls = 1;
    config.limits = &limits;
    config.network = &network;
    config.decode_mode = strcmp(way, "isolated") == 0 ? SDD_DECODE_ISOLATED
                         : strcmp(way, "all") == 0    ? SDD_DECODE_ALL_IN_PROCESS
                                                      : SDD_DECODE_IN_PROCESS;
    status = sdd_downloader_create(&config, &downloader);
    if (status != SDD_OK) return status;
    status = sdd_downloader_set_decode_options(downloader, options);
    snprintf(url, sizeof url, "file://%s", file);
    if (status == SDD_OK) status = sdd_get(downloader, url, 0, -1, image, NULL, NULL);
    return status;
}

static sdd_status decode(const char *file, const sdd_decode_options *options, sdd_image **image)
{
    FILE *from = fopen(file, "rb");
    char *bytes = malloc(8 << 20);
    size_t size = from != NULL && bytes != NULL ? fread(bytes, 1, 8 << 20, from) : 0;
    sdd_status status = sdd_image_decode(bytes, size, options, image);
    free(bytes);
    if (from != NULL) fclose(from);
    return status;
}

int main(int count, char **arguments)
{
    sdd_decode_options options = SDD_DECODE_OPTIONS_INIT;
    sdd_image_info info = SDD_IMAGE_INFO_INIT;
    sdd_failure failure = { 0 };
    sdd_image *image = NULL;
    sdd_status status;
    if (count < 3) return 2;
    if (count > 6) {
        options.target_width = atoi(arguments[3]);
        options.target_height = atoi(arguments[4]);
        options.fit = atoi(arguments[5]);
        options.allow_enlarging = atoi(arguments[6]);
    }
    status = strcmp(arguments[1], "call") == 0 ? decode(arguments[2], &options, &image)
                                               : get(arguments[1], arguments[2], &options, &image);
    if (status != SDD_OK) (void)sdd_last_error(&failure);
    if (image != NULL) (void)sdd_image_get_info(image, &info);
    fprintf(stderr, "%d %d %d %d %s\n", (int)status, (int)failure.detail, info.stored_width, info.stored_height,
            status == SDD_OK ? "" : sdd_last_error_message());
    if (image == NULL || sdd_image_pixels(image) == NULL) return 0;
    printf("P7\nWIDTH %d\nHEIGHT %d\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n", sdd_image_width(image),
           sdd_image_height(image));
    for (int y = 0; y < sdd_image_height(image); y++)
        fwrite(sdd_image_pixels(image) + (size_t)y * sdd_image_stride(image), 4, (size_t)sdd_image_width(image), stdout);
    return 0;
}
