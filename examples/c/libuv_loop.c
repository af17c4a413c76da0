/* cc -std=c99 -O2 libuv_loop.c $(pkg-config --cflags --libs sdd libuv) -o libuv_loop
 *
 * libuv_loop: downloads in a libuv loop: every callback runs in the loop, on its thread. Ctrl-C cancels the
 * remaining downloads.
 *
 *     libuv_loop URL...
 *
 * Exit status 0: each URL ended with a picture.
 */
#define _POSIX_C_SOURCE 200809L /* for uv.h */
#include <sdd/sdd.h>
#include <signal.h>
#include <stdio.h>
#include <uv.h>

struct program {
    uv_loop_t loop;
    uv_poll_t events; /* the library's descriptor */
    uv_signal_t ctrl_c;
    sdd_downloader *downloader;
    int asked, ended, pictures;
};

/* Closes all handles of the loop: it ends by itself when it has none. */
static void stop(struct program *program)
{
    if (!uv_is_closing((uv_handle_t *)&program->events)) uv_close((uv_handle_t *)&program->events, NULL);
    if (!uv_is_closing((uv_handle_t *)&program->ctrl_c)) uv_close((uv_handle_t *)&program->ctrl_c, NULL);
}

static void completed(const sdd_result *result, void *user_data)
{
    struct program *program = user_data;

    program->ended++;
    if (result->failure.status == SDD_OK) {
        program->pictures++;
        printf("%s: %d x %d\n", result->url, (int)sdd_image_width(result->image), (int)sdd_image_height(result->image));
    } else {
        printf("%s: %s: %s\n", result->url, sdd_status_name(result->failure.status), result->failure.message);
    }
    fflush(stdout);
    if (program->ended == program->asked) stop(program);
}

/* Called when events wait. Takes a few at a time, so that the loop stays responsive: the descriptor stays readable
 * while there are more. */
static void take_events(uv_poll_t *events, int error, int readable)
{
    struct program *program = events->data;
    sdd_status status = sdd_downloader_dispatch(program->downloader, 32, NULL);

    (void)readable;
    if (error < 0 || status != SDD_OK) {
        fprintf(stderr, "libuv_loop: %s\n", error < 0 ? uv_strerror(error) : sdd_last_error_message());
        stop(program);
    }
}

static void interrupted(uv_signal_t *ctrl_c, int number)
{
    struct program *program = ctrl_c->data;

    (void)number;
    sdd_downloader_cancel_all(program->downloader); /* each ends with SDD_ERROR_CANCELLED; the last one ends the loop */
}

/* Adds the library's descriptor and SIGINT to the loop. */
static int watch(struct program *program)
{
    int error = uv_poll_init(&program->loop, &program->events, sdd_downloader_event_fd(program->downloader));

    if (error == 0) error = uv_signal_init(&program->loop, &program->ctrl_c);
    if (error != 0) return error;
    program->events.data = program->ctrl_c.data = program;
    error = uv_poll_start(&program->events, UV_READABLE, take_events);
    return error != 0 ? error : uv_signal_start(&program->ctrl_c, interrupted, SIGINT);
}

int main(int argc, char **argv)
{
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    struct program program = { .asked = 0 };
    int error;

    if (argc < 2) {
        fprintf(stderr, "usage: libuv_loop URL...\n");
        return 2;
    }
    config.delivery = SDD_DELIVERY_APPLICATION; /* callbacks run only inside sdd_downloader_dispatch() */
    if (sdd_downloader_create(&config, &program.downloader) != SDD_OK) return 1;
    if ((error = uv_loop_init(&program.loop)) != 0 || (error = watch(&program)) != 0) {
        fprintf(stderr, "libuv_loop: %s\n", uv_strerror(error));
        return 1;
    }
    for (int i = 1; i < argc; i++)
        if (sdd_download(program.downloader, argv[i], 0, NULL, completed, &program) != 0) program.asked++;
    if (program.asked == 0) stop(&program);
    error = uv_run(&program.loop, UV_RUN_DEFAULT);

    sdd_downloader_destroy(program.downloader); /* closes the descriptor, which the loop no longer watches */
    if (error == 0) error = uv_loop_close(&program.loop);
    if (error != 0) fprintf(stderr, "libuv_loop: %s\n", uv_strerror(error));
    return error == 0 && program.pictures == argc - 1 ? 0 : 1;
}
