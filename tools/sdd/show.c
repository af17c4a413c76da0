#include "show.h"
#include "bars.h"
#include "output.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

enum { ANSWER_MS = 300, MOST_SIDE = 2000 };

static bool begins(const char *value, const char *with)
{
    return value != NULL && strncmp(value, with, strlen(with)) == 0;
}

/* Asks the environment. Returns one of SHOW_, or SHOW_AUTO if the terminal must be asked. */
static int ask_environment(void)
{
    const char *term = getenv("TERM"), *program = getenv("TERM_PROGRAM");
    if (term == NULL || strcmp(term, "dumb") == 0) return SHOW_NONE;
    /* tmux and screen pass pictures on only if they are told to. */
    if (getenv("TMUX") != NULL || getenv("STY") != NULL || begins(term, "tmux") || begins(term, "screen"))
        return SHOW_BLOCKS;
    if (getenv("KITTY_WINDOW_ID") != NULL || strcmp(term, "xterm-kitty") == 0 || strcmp(term, "xterm-ghostty") == 0)
        return SHOW_KITTY;
    if (program != NULL &&
        (strcmp(program, "iTerm.app") == 0 || strcmp(program, "WezTerm") == 0 || strcmp(program, "mintty") == 0))
        return SHOW_ITERM;
    if (strcmp(term, "linux") == 0) return SHOW_BLOCKS;
    return SHOW_AUTO;
}

/* Reads the terminal's answers up to that of the last question, "\033[?...c". */
static void read_answers(int fd, struct text *answers)
{
    int64_t end = now_us() + ANSWER_MS * 1000;
    for (;;) {
        char piece[256];
        int64_t left = (end - now_us()) / 1000;
        struct pollfd wait = { .fd = fd, .events = POLLIN };
        if (left <= 0 || answers->size > 4096 || poll(&wait, 1, (int)left) <= 0) return;
        ssize_t count = read(fd, piece, sizeof piece);
        if (count <= 0) return;
        text_add(answers, piece, (size_t)count);
        const char *device = strstr(answers->data, "\033[?");
        if (device != NULL && strchr(device, 'c') != NULL) return;
    }
}

/* Asks for kitty's protocol, and then for the device's attributes, which every terminal answers. */
static int ask_terminal(void)
{
    static const char question[] = "\033_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\033\\\033[c";
    struct termios before, raw;
    struct text answers = { 0 };
    int how = SHOW_BLOCKS, fd = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (fd < 0) return how;
    if (tcgetpgrp(fd) == getpgrp() && tcgetattr(fd, &before) == 0) { /* in the background it would be stopped */
        raw = before;
        raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
        raw.c_cc[VMIN] = 0, raw.c_cc[VTIME] = 0;
        if (tcsetattr(fd, TCSANOW, &raw) == 0) {
            if (write_all(fd, question, sizeof question - 1) == 0) read_answers(fd, &answers);
            tcsetattr(fd, TCSAFLUSH, &before);
        }
    }
    close(fd);
    const char *device = strstr(text_string(&answers), "\033[?");
    if (strstr(text_string(&answers), "\033_Gi=31;OK") != NULL)
        how = SHOW_KITTY;
    else if (device != NULL) {
        size_t length = strcspn(device, "c");
        for (const char *at = device + 3; at < device + length; at += strcspn(at, ";c") + 1)
            if (at[0] == '4' && (at[1] == ';' || at[1] == 'c')) how = SHOW_SIXEL;
    }
    text_free(&answers);
    return how;
}

int show_begin(int wanted)
{
    if (wanted != SHOW_AUTO) return wanted;
    if (!isatty(1)) return SHOW_NONE;
    int how = ask_environment();
    return how == SHOW_AUTO ? ask_terminal() : how;
}

/* ------------------------------------------------------------------------------------------------------- pictures */

/* The protocol allows 4096 bytes of base64 in one piece: 3072 bytes of PNG. */
static void add_kitty(struct text *page, const uint8_t *png, size_t size)
{
    for (size_t at = 0; at < size; at += 3072) {
        size_t piece = size - at < 3072 ? size - at : 3072;
        text_printf(page, at == 0 ? "\033_Gf=100,a=T,q=2,m=%d;" : "\033_Gm=%d;", at + piece < size);
        text_add_base64(page, png + at, piece);
        text_puts(page, "\033\\");
    }
}

static void add_iterm(struct text *page, const uint8_t *png, size_t size)
{
    text_printf(page, "\033]1337;File=inline=1;size=%zu;preserveAspectRatio=1:", size);
    text_add_base64(page, png, size);
    text_putc(page, '\a');
}

static int distance(const uint8_t *pixel, const int *colour)
{
    int sum = 0;
    for (int c = 0; c < 3; c++) sum += (pixel[c] - colour[c]) * (pixel[c] - colour[c]);
    return sum;
}

/* The number of the nearest colour of terminals with 256: a cube of 0, 95, 135 ... 255 from 16 on, and the greys 8, 18 ...
   238 from 232 on. The first 16 are the user's own. */
static int nearest_colour(const uint8_t *pixel)
{
    int number = 16, mean = (pixel[0] + pixel[1] + pixel[2]) / 3, colour[3];
    for (int c = 0; c < 3; c++) {
        int level = pixel[c] < 48 ? 0 : pixel[c] < 115 ? 1 : (pixel[c] - 35) / 40;
        colour[c] = level == 0 ? 0 : 55 + 40 * level;
        number += level * (c == 0 ? 36 : c == 1 ? 6 : 1);
    }
    int step = mean < 8 ? 0 : mean > 238 ? 23 : (mean - 3) / 10;
    const int grey[3] = { 8 + 10 * step, 8 + 10 * step, 8 + 10 * step };
    return distance(pixel, grey) < distance(pixel, colour) ? 232 + step : number;
}

static void add_block_colour(struct text *page, const uint8_t *pixel, bool foreground, bool exact)
{
    if (exact)
        text_printf(page, "\033[%d;2;%d;%d;%dm", foreground ? 38 : 48, pixel[0], pixel[1], pixel[2]);
    else
        text_printf(page, "\033[%d;5;%dm", foreground ? 38 : 48, nearest_colour(pixel));
}

/* Each character shows two pixels, one above the other. */
static void add_blocks(struct text *page, const uint8_t *pixels, int width, int height)
{
    const char *colours = getenv("COLORTERM");
    bool exact = colours != NULL && (strcmp(colours, "truecolor") == 0 || strcmp(colours, "24bit") == 0);
    for (int y = 0; y < height; y += 2) {
        const uint8_t *upper = pixels + (size_t)y * (size_t)width * 3, *lower = upper + (size_t)width * 3;
        for (int x = 0; x < width; x++) {
            add_block_colour(page, upper + x * 3, true, exact);
            if (y + 1 < height) add_block_colour(page, lower + x * 3, false, exact);
            text_puts(page, terminal_is_utf8() ? "\u2580" : "#");
        }
        text_puts(page, "\033[0m\n");
    }
}

/* The pixels that a picture may have to fit into the terminal. */
static void room_for(int how, int *width, int *height)
{
    struct winsize size = { 0 };
    int columns = 80, rows = 24;
    terminal_size(1, &columns, &rows);
    rows = rows > 4 ? rows - 3 : 1;
    if (how == SHOW_BLOCKS) {
        *width = columns;
        *height = rows * 2;
        return;
    }
    if (ioctl(1, TIOCGWINSZ, &size) != 0) size.ws_xpixel = size.ws_ypixel = 0;
    bool known = size.ws_xpixel > 0 && size.ws_ypixel > 0 && size.ws_col > 0 && size.ws_row > 0;
    *width = known ? size.ws_xpixel / size.ws_col * columns : columns * 10;
    *height = known ? size.ws_ypixel / size.ws_row * rows : rows * 20;
    if (*width > MOST_SIDE) *width = MOST_SIDE;
    if (*height > MOST_SIDE) *height = MOST_SIDE;
}

/* Copies the pixels of a picture as RGB rows without padding, over black. */
static uint8_t *rgb_pixels(sdd_image *image)
{
    int width = sdd_image_width(image), height = sdd_image_height(image);
    const uint8_t *pixels = sdd_image_pixels(image);
    size_t stride = sdd_image_stride(image);
    if (pixels == NULL || sdd_image_pixel_format(image) != SDD_PIXEL_FORMAT_RGBA8) return NULL;
    uint8_t *copy = need(malloc((size_t)width * (size_t)height * 3)), *to = copy;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            const uint8_t *from = pixels + (size_t)y * stride + (size_t)x * 4;
            for (int c = 0; c < 3; c++) *to++ = (uint8_t)(from[c] * from[3] / 255);
        }
    return copy;
}

static bool show_image(sdd_image *image, int how)
{
    sdd_transform resize = SDD_TRANSFORM_INIT;
    sdd_encode_options options = SDD_ENCODE_OPTIONS_INIT;
    sdd_image *small = NULL;
    sdd_bytes *png = NULL;
    struct text page = { 0 };
    int width = 0, height = 0;
    room_for(how, &width, &height);
    resize.kind = SDD_TRANSFORM_RESIZE, resize.width = width, resize.height = height;
    if (sdd_image_transform(image, &resize, 1, &small) != SDD_OK) return false;
    bool good = true;
    if (how == SHOW_KITTY || how == SHOW_ITERM) {
        options.format = SDD_IMAGE_FORMAT_PNG;
        good = sdd_image_encode(small, &options, &png) == SDD_OK;
        if (good) (how == SHOW_KITTY ? add_kitty : add_iterm)(&page, sdd_bytes_data(png), sdd_bytes_size(png));
        text_putc(&page, '\n');
        sdd_bytes_release(png);
    } else {
        uint8_t *pixels = rgb_pixels(small);
        good = pixels != NULL;
        if (good)
            (how == SHOW_SIXEL ? sixel_add : add_blocks)(&page, pixels, sdd_image_width(small),
                                                         sdd_image_height(small));
        if (how == SHOW_SIXEL) text_putc(&page, '\n');
        free(pixels);
    }
    sdd_image_release(small);
    if (good) print_out(page.data, page.size);
    text_free(&page);
    return good;
}

void check_show(const struct settings *settings, bool to_stdout)
{
    if (settings->show == SHOW_NONE || settings->show == SHOW_AUTO) return;
    if (settings->json) usage_error("--show and --json would mix on standard output");
    if (to_stdout) usage_error("--show and --output %s would mix on standard output", settings->output);
}

bool show_bytes(const void *data, size_t size, int how)
{
    sdd_decode_options options = SDD_DECODE_OPTIONS_INIT;
    sdd_image *image = NULL;
    int width = 0, height = 0;
    if (how == SHOW_NONE) return true;
    room_for(how, &width, &height);
    options.target_width = width, options.target_height = height;
    options.colour = SDD_COLOUR_SRGB;
    if (sdd_image_decode(data, size, &options, &image) != SDD_OK) return false;
    bool good = show_image(image, how);
    sdd_image_release(image);
    return good;
}
