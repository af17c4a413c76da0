/* cc -std=c99 -O2 load.c $(pkg-config --cflags --libs sdd) -o load
 *
 * load: loads each picture twice, and prints where it came from.
 *
 *     load URL...
 *
 * The first time it comes from the network, or from the cache on disk ($XDG_CACHE_HOME/sdd/default) if an earlier run
 * has stored it; the second time it comes from memory. Exit status 0: success.
 */
#include <sdd/sdd.h>
#include <stdio.h>

static const char *origin_name(int32_t origin)
{
    switch (origin) {
    case SDD_ORIGIN_MEMORY: return "memory";
    case SDD_ORIGIN_DISK: return "disk";
    default: return "network"; /* the other origins occur only with the HTTP cache */
    }
}

/* Runs on a thread of the library. main() reads the number when sdd_downloader_idle_wait() has returned. */
static void completed(const sdd_result *result, void *user_data)
{
    int *failures = user_data;

    if (result->failure.status != SDD_OK) {
        printf("%s: %s: %s\n", result->url, sdd_status_name(result->failure.status), result->failure.message);
        ++*failures;
    } else { /* the pixels are at sdd_image_pixels(); sdd_image_retain() keeps the image longer than this call */
        printf("%s: %d x %d from: %s\n", result->url, (int)sdd_image_width(result->image),
               (int)sdd_image_height(result->image), origin_name(result->origin));
    }
}

int main(int argc, char **argv)
{
    int failures = 0;

    if (argc < 2) {
        fprintf(stderr, "usage: load URL...\n");
        return 2;
    }
    for (int run = 1; run <= 2; run++) {
        for (int i = 1; i < argc; i++)
            if (sdd_load(NULL, argv[i], 0, NULL, completed, &failures) == 0) /* NULL: the shared loader */
                return 1;
        if (sdd_downloader_idle_wait(NULL, -1) != SDD_OK) return 1;
    }
    if (sdd_cache_flush_wait(NULL, -1) != SDD_OK) /* waits until all pictures are on disk for the next run */
        return 1;
    return failures == 0 ? 0 : 1;
}
