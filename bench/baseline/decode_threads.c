/* Decodes bodies on --threads threads, in the order in which they arrive. */
#include "baseline.h"
#include <pthread.h>
#include <stdlib.h>

/* The network thread starts no transfer while this many bodies wait. */
enum { ENOUGH = 32 };

struct job {
    struct job *next;
    struct body body;
    const char *url;
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct job *first, *last;
    int waiting, is_closed, started;
    pthread_t *threads;
} queue = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

static void decode(struct jpeg_decoder *jpeg, const struct job *job)
{
    const struct body *body = &job->body;
    struct picture picture = { 0 };
    const int is_png = body->size > 8 && body->bytes[0] == 0x89;
    if (is_png ? decode_png(body, &picture) : decode_jpeg(jpeg, body, &picture))
        count_failed(job->url, "the picture is damaged");
    else
        count_ok(body, &picture);
    free(picture.pixels);
}

static void *decode_some(void *unused)
{
    struct jpeg_decoder *jpeg = make_jpeg_decoder();
    pthread_mutex_lock(&queue.lock);
    for (;;) {
        while (!queue.first && !queue.is_closed) pthread_cond_wait(&queue.changed, &queue.lock);
        struct job *job = queue.first;
        if (!job) break;
        queue.first = job->next;
        const int was_enough = queue.waiting-- == ENOUGH;
        pthread_mutex_unlock(&queue.lock);
        if (was_enough && !arguments.cache) wake_network();
        decode(jpeg, job);
        free(job->body.bytes);
        free(job);
        pthread_mutex_lock(&queue.lock);
    }
    pthread_mutex_unlock(&queue.lock);
    free_jpeg_decoder(jpeg);
    return unused;
}

void start_decoding(void)
{
    queue.threads = calloc((size_t)arguments.threads, sizeof *queue.threads);
    if (!queue.threads) give_up("no memory");
    while (queue.started < arguments.threads) {
        if (pthread_create(&queue.threads[queue.started++], NULL, decode_some, NULL)) give_up("no thread");
    }
}

void decode_later(struct body body, const char *url)
{
    struct job *job = malloc(sizeof *job);
    if (!job) give_up("no memory");
    *job = (struct job){ .body = body, .url = url };
    pthread_mutex_lock(&queue.lock);
    if (queue.first)
        queue.last->next = job;
    else
        queue.first = job;
    queue.last = job;
    queue.waiting++;
    pthread_cond_signal(&queue.changed);
    pthread_mutex_unlock(&queue.lock);
}

int has_enough_to_decode(void)
{
    if (!arguments.decodes) return 0;
    pthread_mutex_lock(&queue.lock);
    const int enough = queue.waiting >= ENOUGH;
    pthread_mutex_unlock(&queue.lock);
    return enough;
}

void finish_decoding(void)
{
    pthread_mutex_lock(&queue.lock);
    queue.is_closed = 1;
    pthread_cond_broadcast(&queue.changed);
    pthread_mutex_unlock(&queue.lock);
    while (queue.started > 0) pthread_join(queue.threads[--queue.started], NULL);
    free(queue.threads);
    queue.threads = NULL;
}
