/* cc -std=c99 -O2 viewer.c $(pkg-config --cflags --libs sdd sdl2) -o viewer
 *
 * viewer: shows pictures in an SDL window, one at a time, while they arrive. Everything runs on one thread: each frame
 * takes the library's events, for a few milliseconds at most, and draws.
 *
 *     viewer [-s WIDTHxHEIGHT] [-p MS] [-o SCREENSHOT] [-1] [-n FRAMES] URL...
 *
 * Space and the right arrow show the next picture, the left arrow the previous one, Escape and Q quit. -p: shows the
 * next picture when one has been visible for MS milliseconds, and quits after the last. For tests, -o writes the
 * window's content to a PNG and quits as soon as the picture (with -p: the last one) is complete; with -1, as soon as
 * there is a preview of it. -n quits after that many frames. Exit status 0: all pictures shown were loaded.
 */
#define _POSIX_C_SOURCE 200809L /* getopt */
#include <SDL.h>
#include <errno.h>
#include <sdd/sdd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FRAME_MS = 16, BUDGET_MS = 4 /* of each frame, for the library's events */, AHEAD = 2 /* neighbours */ };

enum state { ASLEEP, LOADING, SHOWN, FAILED };

struct slide {
    const char *url;
    enum state state;
    sdd_token token;
    SDL_Texture *texture; /* of the last preview, or the picture */
    int width, height, previews;
    int64_t received, expected;
};

static struct {
    SDL_Window *window;
    SDL_Renderer *renderer;
    int width, height;
    sdd_downloader *downloader;
    sdd_loader *loader;
    struct slide *slides;
    int count, current, failures;
    Uint32 shown_since; /* time when the current picture was complete, in SDL's milliseconds */
} viewer;

static int say(const char *what, const char *why)
{
    fprintf(stderr, "viewer: %s: %s\n", what, why);
    return 1;
}

/* ---- callbacks: they run inside sdd_downloader_dispatch(), on the thread of main(), which may draw */

static void progress(sdd_token token, int64_t received, int64_t expected, const char *url, void *user_data)
{
    struct slide *slide = user_data;

    (void)token, (void)url;
    slide->received = received;
    slide->expected = expected;
}

static void take_picture(struct slide *slide, sdd_image *image)
{
    SDL_DestroyTexture(slide->texture); /* NULL is allowed */
    slide->width = sdd_image_width(image);
    slide->height = sdd_image_height(image);
    slide->texture = SDL_CreateTexture(viewer.renderer, SDL_PIXELFORMAT_RGBA32, SDL_TEXTUREACCESS_STATIC, slide->width,
                                       slide->height);
    if (slide->texture == NULL) return;
    SDL_SetTextureBlendMode(slide->texture, SDL_BLENDMODE_BLEND); /* missing parts of a preview are transparent */
    SDL_UpdateTexture(slide->texture, NULL, sdd_image_pixels(image), (int)sdd_image_stride(image));
}

static void preview(const sdd_result *result, void *user_data)
{
    struct slide *slide = user_data;

    take_picture(slide, result->image);
    slide->previews++;
}

static void completed(const sdd_result *result, void *user_data)
{
    struct slide *slide = user_data;

    slide->token = 0;
    if (result->failure.status == SDD_ERROR_CANCELLED) { /* by leave(), because it was too far away */
        slide->state = ASLEEP;
        return;
    }
    if (result->failure.status == SDD_OK) {
        take_picture(slide, result->image);
        slide->state = SHOWN;
        printf("%s: %d x %d\n", slide->url, slide->width, slide->height);
    } else {
        slide->state = FAILED;
        viewer.failures++;
        printf("%s: %s: %s\n", slide->url, sdd_status_name(result->failure.status), result->failure.message);
    }
    if (slide == &viewer.slides[viewer.current]) viewer.shown_since = SDL_GetTicks();
}

/* ---- loading */

/* Loads the current picture first. Called again, it changes the priorities of running loads. */
static void want(int index)
{
    struct slide *slide = &viewer.slides[index];
    const sdd_priority priority = index == viewer.current ? SDD_PRIORITY_HIGH : SDD_PRIORITY_LOW;
    sdd_load_request request = SDD_LOAD_REQUEST_INIT;
    sdd_decode_options decode = SDD_DECODE_OPTIONS_INIT; /* RGBA8 */

    if (slide->state == LOADING) sdd_set_priority(slide->token, priority);
    if (slide->state != ASLEEP) return;
    decode.target_width = viewer.width;
    decode.target_height = viewer.height;
    request.url = slide->url;
    request.priority = priority;
    request.decode = &decode;
    request.progress = progress;
    request.preview = preview;
    request.completed = completed;
    request.user_data = slide;
    slide->token = sdd_loader_submit(viewer.loader, &request);
    slide->state = slide->token != 0 ? LOADING : FAILED;
    viewer.failures += slide->state == FAILED;
}

/* Releases a picture that is far away: the cache keeps it, or will have it next time. */
static void leave(int index)
{
    struct slide *slide = &viewer.slides[index];

    if (slide->state == LOADING)
        sdd_cancel(slide->token); /* `completed` follows, in one of the next frames */
    else if (slide->state == SHOWN)
        slide->state = ASLEEP;
    SDL_DestroyTexture(slide->texture);
    slide->texture = NULL;
}

static void go_to(int index)
{
    char title[64];

    if (index < 0 || index >= viewer.count) return;
    viewer.current = index;
    viewer.shown_since = SDL_GetTicks();
    snprintf(title, sizeof title, "%d of %d", index + 1, viewer.count);
    SDL_SetWindowTitle(viewer.window, title);
}

/* Called in each frame, since a cancelled load may end, and be wanted again, at any time. */
static void look_around(void)
{
    for (int i = 0; i < viewer.count; i++)
        if (abs(i - viewer.current) > AHEAD) leave(i);
    want(viewer.current);
    for (int distance = 1; distance <= AHEAD; distance++) {
        if (viewer.current + distance < viewer.count) want(viewer.current + distance);
        if (viewer.current - distance >= 0) want(viewer.current - distance);
    }
}

/* ---- a frame */

static int take_keys(void) /* returns 0 to quit */
{
    SDL_Event event;

    while (SDL_PollEvent(&event)) {
        if (event.type == SDL_QUIT) return 0;
        if (event.type != SDL_KEYDOWN) continue;
        switch (event.key.keysym.sym) {
        case SDLK_ESCAPE:
        case SDLK_q: return 0;
        case SDLK_SPACE:
        case SDLK_RIGHT: go_to(viewer.current + 1); break;
        case SDLK_LEFT: go_to(viewer.current - 1); break;
        default: break;
        }
    }
    return 1;
}

/* Takes events until there are none or the time is over; the others wait for the next frame. */
static void take_events(void)
{
    const Uint32 start = SDL_GetTicks();
    size_t count;

    do {
        count = 0;
        if (sdd_downloader_dispatch(viewer.downloader, 1, &count) != SDD_OK) return;
    } while (count > 0 && SDL_GetTicks() - start < BUDGET_MS);
}

static void draw(void)
{
    const struct slide *slide = &viewer.slides[viewer.current];

    SDL_SetRenderDrawColor(viewer.renderer, 32, 32, 32, 255);
    SDL_RenderClear(viewer.renderer);
    if (slide->texture != NULL) { /* decoded to fit the window: drawn unscaled in its middle */
        SDL_Rect place = { (viewer.width - slide->width) / 2, (viewer.height - slide->height) / 2, slide->width,
                           slide->height };
        SDL_RenderCopy(viewer.renderer, slide->texture, NULL, &place);
    }
    if (slide->state == LOADING && slide->expected > 0) {
        SDL_Rect bar = { 0, viewer.height - 4, (int)(slide->received * viewer.width / slide->expected), 4 };
        SDL_SetRenderDrawColor(viewer.renderer, 255, 255, 255, 255);
        SDL_RenderFillRect(viewer.renderer, &bar);
    }
}

/* Draws once more, into a texture, since the window's content belongs to the window system. */
static int read_back(uint8_t *pixels, size_t stride)
{
    SDL_Texture *target = SDL_CreateTexture(viewer.renderer, SDL_PIXELFORMAT_RGBA32, SDL_TEXTUREACCESS_TARGET,
                                            viewer.width, viewer.height);
    int good = target != NULL && SDL_SetRenderTarget(viewer.renderer, target) == 0;

    if (good) {
        draw();
        good = SDL_RenderReadPixels(viewer.renderer, NULL, SDL_PIXELFORMAT_RGB24, pixels, (int)stride) == 0;
        SDL_SetRenderTarget(viewer.renderer, NULL);
    }
    SDL_DestroyTexture(target);
    return good;
}

static int write_screenshot(const char *path)
{
    const size_t stride = (size_t)viewer.width * 3;
    sdd_encode_options options = SDD_ENCODE_OPTIONS_INIT;
    sdd_image *image = NULL;
    sdd_bytes *bytes = NULL;
    uint8_t *pixels = malloc(stride * (size_t)viewer.height);
    FILE *file = fopen(path, "wb");
    int failed = 1;

    options.format = SDD_IMAGE_FORMAT_PNG;
    if (file == NULL || pixels == NULL)
        say(path, strerror(errno));
    else if (!read_back(pixels, stride))
        say(path, SDL_GetError());
    else if (sdd_image_create(viewer.width, viewer.height, SDD_PIXEL_FORMAT_RGB8, pixels, stride, &image) != SDD_OK ||
             sdd_image_encode(image, &options, &bytes) != SDD_OK)
        say(path, sdd_last_error_message());
    else
        failed = fwrite(sdd_bytes_data(bytes), 1, sdd_bytes_size(bytes), file) != sdd_bytes_size(bytes);
    sdd_bytes_release(bytes);
    sdd_image_release(image);
    free(pixels);
    if (file != NULL && fclose(file) != 0) failed = say(path, strerror(errno));
    return failed;
}

/* ---- the loop */

struct plan {
    const char *screenshot;
    int at_preview;
    long play_ms, frames; /* -1: not set */
};

/* Returns whether the program should end. With -p, shows the next picture when it is time. */
static int is_over(const struct plan *plan)
{
    const struct slide *slide = &viewer.slides[viewer.current];

    if (plan->at_preview && slide->previews > 0) return 1;
    if (slide->state != SHOWN && slide->state != FAILED) return 0;
    if (plan->play_ms < 0) return plan->screenshot != NULL;
    if ((long)(SDL_GetTicks() - viewer.shown_since) < plan->play_ms) return 0;
    if (viewer.current + 1 == viewer.count) return 1;
    go_to(viewer.current + 1);
    return 0;
}

static int run(const struct plan *plan)
{
    int failed = 0, over = 0;

    go_to(0);
    for (long frame = 1; take_keys() && !over; frame++) {
        const Uint32 start = SDL_GetTicks();
        look_around();
        take_events();
        draw();
        over = is_over(plan) || frame == plan->frames;
        SDL_RenderPresent(viewer.renderer);
        if (over && plan->screenshot != NULL) failed = write_screenshot(plan->screenshot);
        const Uint32 taken = SDL_GetTicks() - start;
        if (taken < FRAME_MS) SDL_Delay(FRAME_MS - taken);
    }
    return failed || viewer.failures > 0;
}

static int open_window(void)
{
    if (SDL_Init(SDL_INIT_VIDEO) != 0) return 0;
    viewer.window = SDL_CreateWindow("viewer", SDL_WINDOWPOS_UNDEFINED, SDL_WINDOWPOS_UNDEFINED, viewer.width,
                                     viewer.height, 0);
    if (viewer.window != NULL) viewer.renderer = SDL_CreateRenderer(viewer.window, -1, 0);
    return viewer.renderer != NULL;
}

static sdd_status open_loader(void)
{
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    sdd_loader_config loader_config = SDD_LOADER_CONFIG_INIT; /* with the shared cache */

    config.delivery = SDD_DELIVERY_APPLICATION; /* callbacks run only inside sdd_downloader_dispatch() */
    sdd_status status = sdd_downloader_create(&config, &viewer.downloader);
    loader_config.downloader = viewer.downloader;
    return status == SDD_OK ? sdd_loader_create(&loader_config, &viewer.loader) : status;
}

static void close_all(void)
{
    sdd_loader_destroy(viewer.loader);
    sdd_downloader_destroy(viewer.downloader); /* calls outstanding callbacks on this thread */
    for (int i = 0; i < viewer.count; i++) SDL_DestroyTexture(viewer.slides[i].texture);
    free(viewer.slides);
    SDL_DestroyRenderer(viewer.renderer);
    SDL_DestroyWindow(viewer.window);
    SDL_Quit();
}

int main(int argc, char **argv)
{
    struct plan plan = { NULL, 0, -1, -1 };
    int option, good = 1, failed = 1;

    viewer.width = 800;
    viewer.height = 600;
    while (good && (option = getopt(argc, argv, "s:p:o:1n:")) != -1) {
        switch (option) {
        case 's': good = sscanf(optarg, "%dx%d", &viewer.width, &viewer.height) == 2; break;
        case 'p': good = (plan.play_ms = atol(optarg)) >= 0; break;
        case 'o': plan.screenshot = optarg; break;
        case '1': plan.at_preview = 1; break;
        case 'n': good = (plan.frames = atol(optarg)) > 0; break;
        default: good = 0;
        }
    }
    viewer.count = argc - optind;
    if (!good || viewer.count == 0 || viewer.width < 16 || viewer.width > 8192 || viewer.height < 16 ||
        viewer.height > 8192) {
        fprintf(stderr, "usage: viewer [-s WIDTHxHEIGHT] [-p MS] [-o SCREENSHOT] [-1] [-n FRAMES] URL...\n");
        return 2;
    }
    if ((viewer.slides = calloc((size_t)viewer.count, sizeof *viewer.slides)) == NULL)
        return say("cannot begin", strerror(errno));
    for (int i = 0; i < viewer.count; i++) viewer.slides[i].url = argv[optind + i];
    if (!open_window()) {
        say("no window", SDL_GetError());
    } else {
        sdd_status status = open_loader();
        failed = status == SDD_OK ? run(&plan) : say("cannot begin", sdd_last_error_message());
    }
    close_all();
    return failed;
}
