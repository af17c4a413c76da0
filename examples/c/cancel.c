/* cc -std=c99 -O2 cancel.c $(pkg-config --cflags --libs sdd) -o cancel
 *
 * cancel: starts several downloads and cancels the first of them as soon as it makes progress. The
 * cancelled one ends with SDD_ERROR_CANCELLED, the others with pictures.
 *
 *     cancel URL URL...
 *
 * Exit status 0: exactly that happened.
 */
#include <sdd/sdd.h>
#include <stdio.h>

/* The program's state. It needs no lock: the callbacks run on one thread of the downloader, and main() reads it only
 * after sdd_downloader_idle_wait() has returned. */
struct state {
    sdd_downloader *downloader;
    int ended, pictures, cancelled; /* numbers of requests by outcome */
    int first_asked;                /* whether the first request has been cancelled */
    int late;                       /* its progress calls after that: must stay 0 */
};

/* One request, passed to its callbacks as user_data. */
struct request {
    struct state *state;
    int number; /* from 0 */
};

static void progress(sdd_token token, int64_t received, int64_t expected, const char *url, void *user_data)
{
    struct request *request = user_data;
    struct state *state = request->state;

    if (request->number != 0) return;
    if (state->first_asked) {
        state->late++;
        return;
    }
    /* Any function may be called inside a callback. The terminal callback follows later, not inside this call. */
    state->first_asked = sdd_cancel(token) == SDD_OK;
    printf("%s: cancelled at %lld of %lld bytes\n", url, (long long)received, (long long)expected);
}

static void completed(const sdd_result *result, void *user_data)
{
    struct request *request = user_data;
    struct state *state = request->state;

    state->ended++;
    if (result->failure.status == SDD_OK) {
        state->pictures++;
        printf("%s: %d x %d\n", result->url, (int)sdd_image_width(result->image), (int)sdd_image_height(result->image));
        return;
    }
    if (request->number == 0 && result->failure.status == SDD_ERROR_CANCELLED) state->cancelled++;
    printf("%s: %s: %s\n", result->url, sdd_status_name(result->failure.status), result->failure.message);
}

enum { MOST = 64 };

int main(int argc, char **argv)
{
    struct state state = { NULL, 0, 0, 0, 0, 0 };
    struct request requests[MOST];
    int count = argc - 1;
    sdd_status status;

    if (count < 2 || count > MOST) {
        fprintf(stderr, "usage: cancel URL URL... (from 2 to %d)\n", MOST);
        return 2;
    }
    /* A downloader of the program's own; NULL in place of the configuration would mean all defaults. */
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    config.max_concurrent_downloads = 4;
    status = sdd_downloader_create(&config, &state.downloader);
    if (status != SDD_OK) {
        fprintf(stderr, "cancel: %s\n", sdd_last_error_message());
        return 1;
    }
    for (int i = 0; i < count; i++) {
        requests[i].state = &state;
        requests[i].number = i;
        if (sdd_download(state.downloader, argv[i + 1], 0, progress, completed, &requests[i]) == 0) return 1;
    }
    sdd_downloader_idle_wait(state.downloader, -1);
    sdd_downloader_destroy(state.downloader); /* no callback runs after this */

    printf("%d cancelled, %d pictures, of %d\n", state.cancelled, state.pictures, count);
    return state.first_asked && state.late == 0 && state.cancelled == 1 && state.pictures == count - 1 &&
                   state.ended == count
               ? 0
               : 1;
}
