/* cc -std=c99 -O2 glib_loop.c $(pkg-config --cflags --libs sdd glib-2.0) -o glib_loop
 *
 * glib_loop: downloads in a GLib main loop, as in a GTK program: every callback runs in the loop, where it may use
 * widgets. Ctrl-C cancels the remaining downloads.
 *
 *     glib_loop URL...
 *
 * Exit status 0: each URL ended with a picture.
 */
#include <glib-unix.h>
#include <sdd/sdd.h>
#include <signal.h>
#include <unistd.h>

struct program {
    GMainLoop *loop;
    sdd_downloader *downloader;
    int asked, ended, pictures;
};

static void completed(const sdd_result *result, void *user_data)
{
    struct program *program = user_data;

    program->ended++;
    if (result->failure.status == SDD_OK) {
        program->pictures++;
        g_print("%s: %d x %d\n", result->url, (int)sdd_image_width(result->image),
                (int)sdd_image_height(result->image));
    } else {
        g_print("%s: %s: %s\n", result->url, sdd_status_name(result->failure.status), result->failure.message);
    }
    if (program->ended == program->asked) g_main_loop_quit(program->loop);
}

/* Called when the library's descriptor is readable because events wait. Takes a few at a time, so that the loop stays
 * responsive: the descriptor stays readable while there are more. */
static gboolean take_events(gint descriptor, GIOCondition condition, gpointer user_data)
{
    struct program *program = user_data;
    sdd_status status = sdd_downloader_dispatch(program->downloader, 32, NULL);

    (void)descriptor, (void)condition;
    if (status == SDD_OK) return G_SOURCE_CONTINUE;
    g_printerr("glib_loop: %s\n", sdd_last_error_message());
    g_main_loop_quit(program->loop);
    return G_SOURCE_CONTINUE; /* main() removes it */
}

static gboolean interrupted(gpointer user_data)
{
    struct program *program = user_data;

    sdd_downloader_cancel_all(program->downloader); /* each ends with SDD_ERROR_CANCELLED; the last one ends the loop */
    return G_SOURCE_CONTINUE;
}

/* A timer, to show that the loop is free while pictures are downloaded and decoded. */
static gboolean tick(gpointer user_data)
{
    const struct program *program = user_data;

    g_printerr("\r\033[K%d of %d", program->ended, program->asked);
    return G_SOURCE_CONTINUE;
}

int main(int argc, char **argv)
{
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    struct program program = { NULL, NULL, 0, 0, 0 };
    guint events, signals, timer = 0;
    sdd_status status;

    if (argc < 2) {
        g_printerr("usage: glib_loop URL...\n");
        return 2;
    }
    config.delivery = SDD_DELIVERY_APPLICATION; /* callbacks run only inside sdd_downloader_dispatch() */
    status = sdd_downloader_create(&config, &program.downloader);
    if (status != SDD_OK) {
        g_printerr("glib_loop: %s\n", sdd_last_error_message());
        return 1;
    }
    program.loop = g_main_loop_new(NULL, FALSE);
    events = g_unix_fd_add(sdd_downloader_event_fd(program.downloader), G_IO_IN, take_events, &program);
    signals = g_unix_signal_add(SIGINT, interrupted, &program);
    if (isatty(STDERR_FILENO)) timer = g_timeout_add(100, tick, &program);

    for (int i = 1; i < argc; i++)
        if (sdd_download(program.downloader, argv[i], 0, NULL, completed, &program) != 0) program.asked++;
    if (program.asked > 0) g_main_loop_run(program.loop);

    g_source_remove(events); /* before the descriptor is closed */
    g_source_remove(signals);
    if (timer != 0) g_source_remove(timer);
    sdd_downloader_destroy(program.downloader);
    g_main_loop_unref(program.loop);
    return program.pictures == argc - 1 ? 0 : 1;
}
