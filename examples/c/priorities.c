/* cc -std=c99 -O2 priorities.c $(pkg-config --cflags --libs sdd) -o priorities
 *
 * priorities: prefetching with priorities. The program requests some hundred pictures that may be viewed later. Then
 * the user opens another one that is needed at once, and scrolls to one that has been waiting since the beginning.
 *
 *     priorities [-f] [-n COUNT] [-r RESERVED] URL
 *
 * Fetches URL?ahead=1 to URL?ahead=COUNT (default 300), newest first, or, with -f, oldest first; and URL?now
 * when a tenth of them has arrived. -r reserves that many of the six slots for urgent requests (default 1). Exit
 * status 0: success.
 */
#define _POSIX_C_SOURCE 200809L /* getopt */
#include <sdd/sdd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SHOWN = 12 };

struct state {
    sdd_downloader *downloader;
    char *url; /* with room for a query */
    size_t url_length, url_size;
    int count, ended, failed;
    sdd_token first;    /* the first prefetched one: with newest first, its turn would come last */
    int64_t longest_us; /* the longest wait of a prefetched one */
    int order[SHOWN];   /* the order in which the first of them ended */
    int raised, urgent; /* the places of these two in that order */
    int64_t urgent_queue_us, urgent_total_us;
};

/* One request. `number` counts from 1; 0 is the urgent one. */
struct request {
    struct state *state;
    int number;
};

static sdd_token submit(struct request *from, const char *query, sdd_priority priority);

/* Requests the urgent picture while most of the others wait, and raises the priority of the first one. */
static void open_one(struct state *state, struct request *urgent)
{
    sdd_status status;

    if (submit(urgent, "now", SDD_PRIORITY_VERY_HIGH) == 0) state->failed++;
    /* Another request for the same URL with a higher priority would work as well: both would share one transfer. */
    status = sdd_set_priority(state->first, SDD_PRIORITY_NORMAL);
    if (status != SDD_OK && status != SDD_ERROR_NOT_FOUND) /* with -f it has ended long ago */
        state->failed++;
}

static void completed(const sdd_result *result, void *user_data)
{
    struct request *request = user_data;
    struct state *state = request->state;

    state->ended++;
    if (result->failure.status != SDD_OK) {
        state->failed++;
        printf("%s: %s\n", result->url, result->failure.message);
    }
    if (request->number == 0) {
        state->urgent = state->ended;
        state->urgent_queue_us = result->metrics->queue_us;
        state->urgent_total_us = result->metrics->total_us;
        return;
    }
    if (request->number == 1) state->raised = state->ended;
    if (state->ended <= SHOWN) state->order[state->ended - 1] = request->number;
    if (result->metrics->queue_us > state->longest_us) state->longest_us = result->metrics->queue_us;
    if (state->ended == state->count / 10)
        open_one(state, request - request->number); /* the first of the array is the urgent one */
}

static sdd_token submit(struct request *from, const char *query, sdd_priority priority)
{
    struct state *state = from->state;
    sdd_download_request request = SDD_DOWNLOAD_REQUEST_INIT;

    snprintf(state->url + state->url_length, state->url_size - state->url_length, "?%s", query);
    request.url = state->url;                /* copied with the request */
    request.options = SDD_OPTION_BYTES_ONLY; /* prefetching needs no pixels yet */
    request.priority = priority;
    request.completed = completed;
    request.user_data = from;
    return sdd_downloader_submit(state->downloader, &request);
}

static int run(struct state *state, struct request *requests)
{
    char query[32];

    /* No transfer starts before all of them wait, so that the printed order depends only on the queue. */
    if (sdd_downloader_suspend(state->downloader) != SDD_OK) return 0;
    for (int i = 0; i <= state->count; i++) {
        sdd_token token;
        requests[i].state = state;
        requests[i].number = i;
        if (i == 0) continue; /* the urgent one is submitted later */
        snprintf(query, sizeof query, "ahead=%d", i);
        if ((token = submit(&requests[i], query, SDD_PRIORITY_VERY_LOW)) == 0) return 0;
        if (i == 1) state->first = token;
    }
    /* This also waits for requests that callbacks submit. */
    return sdd_downloader_resume(state->downloader) == SDD_OK &&
           sdd_downloader_idle_wait(state->downloader, -1) == SDD_OK;
}

static void print(const struct state *state)
{
    printf("order:");
    for (int i = 0; i < SHOWN && i < state->count; i++) printf(" %d", state->order[i]);
    printf(" ...\nahead: waited up to %.1f ms\n", (double)state->longest_us / 1000);
    printf("number 1, raised: ended at place %d of %d\n", state->raised, state->ended);
    printf("the urgent one: ended at place %d of %d, after %.1f ms, %.1f of them in the queue\n", state->urgent,
           state->ended, (double)state->urgent_total_us / 1000, (double)state->urgent_queue_us / 1000);
}

int main(int argc, char **argv)
{
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    struct state state = { .count = 300 };
    struct request *requests;
    int option, good;

    config.delivery = SDD_DELIVERY_APPLICATION; /* callbacks run inside sdd_downloader_idle_wait(), on this thread */
    config.execution_order = SDD_ORDER_LIFO;    /* the last pictures to come into view are needed first */
    config.max_concurrent_downloads = 6;
    config.reserved_urgent_slots = 1; /* five prefetch; the sixth is free for SDD_PRIORITY_HIGH and above */
    while ((option = getopt(argc, argv, "fn:r:")) != -1) {
        if (option == 'f')
            config.execution_order = SDD_ORDER_FIFO;
        else if (option == 'n')
            state.count = atoi(optarg);
        else if (option == 'r')
            config.reserved_urgent_slots = atoi(optarg);
        else
            optind = argc;
    }
    if (optind + 1 != argc || state.count < SHOWN * 10 || state.count > 100000) {
        fprintf(stderr, "usage: priorities [-f] [-n COUNT] [-r RESERVED] URL (COUNT from %d)\n", SHOWN * 10);
        return 2;
    }
    state.url_length = strlen(argv[optind]);
    state.url_size = state.url_length + 40;
    state.url = malloc(state.url_size);
    requests = calloc((size_t)state.count + 1, sizeof *requests);
    if (state.url == NULL || requests == NULL || sdd_downloader_create(&config, &state.downloader) != SDD_OK) {
        fprintf(stderr, "priorities: cannot make a downloader like that\n");
        return 1;
    }
    memcpy(state.url, argv[optind], state.url_length);
    good = run(&state, requests);
    good = sdd_downloader_destroy(state.downloader) == SDD_OK && good; /* no callback runs after this */
    print(&state);
    free(requests);
    free(state.url);
    return good && state.failed == 0 && state.ended == state.count + 1 ? 0 : 1;
}
