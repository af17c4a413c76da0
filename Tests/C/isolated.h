/*
 * isolated.h - downloaders whose pictures are decoded by other processes, and these processes.
 */
#ifndef ISOLATED_H
#define ISOLATED_H

#include "record.h"

#include "pixels.h"

#include <dirent.h>
#include <sys/wait.h>

enum { MOST_HELPERS = 64 };

/* Returns the parent of a process, and its state in `state`; 0 if it has ended. */
static inline pid_t parent_of(const char *process, char *state)
{
    char path[300], text[512], *end;
    int parent = 0;
    snprintf(path, sizeof path, "/proc/%s/stat", process);
    FILE *file = fopen(path, "re");
    if (!file) return 0;
    size_t size = fread(text, 1, sizeof text - 1, file);
    text[size] = 0;
    fclose(file);
    end = strrchr(text, ')');
    return end && sscanf(end + 1, " %c %d", state, &parent) == 2 ? parent : 0;
}

/* Finds the children of this process, also those that have ended. */
static inline int helpers(pid_t *found)
{
    int count = 0;
    DIR *folder = opendir("/proc");
    CHECK(folder != NULL);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        char state;
        if (entry->d_name[0] < '1' || entry->d_name[0] > '9' || parent_of(entry->d_name, &state) != getpid()) continue;
        CHECK(count < MOST_HELPERS);
        found[count++] = (pid_t)atoi(entry->d_name);
    }
    closedir(folder);
    return count;
}

static inline int helper_count(void)
{
    pid_t found[MOST_HELPERS];
    return helpers(found);
}

static inline sdd_downloader_config isolated(config_groups *groups)
{
    sdd_downloader_config config = config_over(groups);
    config.decode_mode = SDD_DECODE_ISOLATED;
    return config;
}

static inline sdd_downloader *isolated_downloader(int threads)
{
    config_groups groups;
    sdd_downloader_config config = isolated(&groups);
    config.decode_threads = threads;
    return make_downloader(&config);
}

static inline void ignore_preview(const sdd_result *result, void *user_data) { (void)result, (void)user_data; }

/* Submits a request for a picture that is decoded as it arrives. */
static inline void submit_with_previews(sdd_downloader *downloader, record *r, const char *url)
{
    sdd_download_request request = record_request(r, url);
    request.preview = ignore_preview;
    submit(downloader, &request);
}

static inline void fetch_good(sdd_downloader *downloader)
{
    OWNED_RECORD r = RECORD_INIT;
    fetch(downloader, &r, at("/file/png/rgb8.png"), 0);
    CHECK_ENDED(&r, SDD_OK, 0);
    check_image(r.image, "png/rgb8.pam");
}

#endif
