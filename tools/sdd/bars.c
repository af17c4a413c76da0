#include "bars.h"
#include "output.h"

#include <inttypes.h>
#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { MOST_BARS = 10, FRAME_US = 100000 };

static bool active;
static size_t drawn; /* lines of the last drawing, the cursor being at the start of the line below */
static int64_t drawn_at;

bool terminal_is_utf8(void) { return strcmp(nl_langinfo(CODESET), "UTF-8") == 0; }

/* NO_COLOR: https://no-color.org */
static bool terminal_has_colour(void)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    return (no_color == NULL || *no_color == 0) && term != NULL && strcmp(term, "dumb") != 0;
}

void terminal_size(int fd, int *columns, int *rows)
{
    struct winsize size = { 0 };
    bool known = ioctl(fd, TIOCGWINSZ, &size) == 0;
    *columns = known && size.ws_col > 0 ? size.ws_col : 80;
    *rows = known && size.ws_row > 0 ? size.ws_row : 24;
}

bool bars_begin(bool wanted)
{
    const char *term = getenv("TERM");
    active = wanted && isatty(2) && term != NULL && *term != 0 && strcmp(term, "dumb") != 0;
    if (active) before_complaint = bars_clear;
    return active;
}

bool bars_active(void) { return active; }

bool bars_due(void) { return active && now_us() - drawn_at >= FRAME_US; }

static void add_colour(struct text *page, int colour)
{
    if (!terminal_has_colour()) return;
    if (colour == 0)
        text_puts(page, "\033[0m");
    else
        text_printf(page, "\033[%dm", colour);
}

/* Moves to the first line of the bars. */
static void add_up(struct text *page)
{
    text_putc(page, '\r');
    if (drawn > 0) text_printf(page, "\033[%zuA", drawn);
}

void bars_clear(void)
{
    if (!active || drawn == 0) return;
    struct text page = { 0 };
    add_up(&page);
    text_puts(&page, "\033[J");
    write_all(2, page.data, page.size);
    text_free(&page);
    drawn = 0;
    drawn_at = 0;
}

void bars_line(const char *line, int colour)
{
    struct text page = { 0 };
    if (active && drawn > 0) add_up(&page);
    if (active) text_puts(&page, "\033[J");
    if (colour != 0) add_colour(&page, colour);
    text_add_clean(&page, line, strlen(line));
    if (colour != 0) add_colour(&page, 0);
    text_putc(&page, '\n');
    write_all(2, page.data, page.size);
    text_free(&page);
    drawn = 0;
    drawn_at = 0;
}

/* A bar of so many columns; a part of unknown length gets a dotted line. */
static void add_bar(struct text *page, double part, size_t columns, bool utf8, int colour)
{
    size_t full = part < 0 ? 0 : (size_t)(part * (double)columns + 0.001);
    if (full > columns) full = columns;
    add_colour(page, colour);
    for (size_t i = 0; i < full; i++) text_puts(page, utf8 ? "\u2501" : "=");
    add_colour(page, 90);
    for (size_t i = full; i < columns; i++)
        text_puts(page, part < 0 ? (utf8 ? "\u2508" : ".") : (utf8 ? "\u2500" : "-"));
    add_colour(page, 0);
}

/* "name ━━━━──── 42%  1.2 MiB  3.4 MiB/s  0:12", within the terminal's columns. */
static void add_line(struct text *page, const char *name, double part, int64_t bytes, double rate, int64_t left,
                     int columns, int colour)
{
    struct text numbers = { 0 };
    bool utf8 = terminal_is_utf8();
    if (part >= 0)
        text_printf(&numbers, " %3d%%", (int)(part * 100));
    else
        text_puts(&numbers, "    ?");
    text_printf(&numbers, " %9s", bytes_text(bytes));
    if (columns >= 50) {
        text_printf(&numbers, " %9s/s", rate > 0 ? bytes_text((int64_t)rate) : "-");
        text_printf(&numbers, " %7s", left >= 0 ? duration_text(left) : "-:--");
    }
    int rest = columns - 1 - (int)numbers.size;
    size_t bar = rest >= 24 ? (size_t)(rest / 2 > 30 ? 30 : rest / 2) : 0;
    size_t label = rest > (int)bar + 1 ? (size_t)rest - bar - (bar > 0) : 0;
    text_add_columns(page, name, label, utf8);
    if (bar > 0) {
        text_putc(page, ' ');
        add_bar(page, part, bar, utf8, colour);
    }
    text_add(page, numbers.data, numbers.size);
    text_puts(page, "\033[K\n");
    text_free(&numbers);
}

static int64_t seconds_left(int64_t received, int64_t expected, double rate)
{
    return expected < received || rate < 1 ? -1 : (int64_t)((double)(expected - received) / rate + 0.5);
}

static void add_total(struct text *page, const struct bars_total *total, int columns, int64_t left, double part)
{
    struct text label = { 0 };
    text_printf(&label, "%" PRIu64 " of %" PRIu64 "%s", total->ended, total->known, total->all_known ? "" : "+");
    if (total->failed > 0) text_printf(&label, ", %" PRIu64 " failed", total->failed);
    add_line(page, label.data, part, total->bytes, total->rate, left, columns, total->failed > 0 ? 33 : 32);
    text_free(&label);
}

void bars_draw(const struct bar *bars, size_t count, size_t hidden, const struct bars_total *total)
{
    struct text page = { 0 };
    int columns = 80, rows = 24;
    terminal_size(2, &columns, &rows);
    size_t room = rows > 4 ? (size_t)rows - 3 : 1, shown = count;
    if (shown > MOST_BARS) shown = MOST_BARS;
    if (shown > room) shown = room;
    hidden += count - shown;
    add_up(&page);
    for (size_t i = 0; i < shown; i++) {
        double part = bars[i].expected > 0 ? (double)bars[i].received / (double)bars[i].expected : -1;
        add_line(&page, bars[i].name, part > 1 ? 1 : part, bars[i].received, bars[i].rate,
                 seconds_left(bars[i].received, bars[i].expected, bars[i].rate), columns, 36);
    }
    size_t lines = shown;
    if (hidden > 0 && rows > 5) {
        text_printf(&page, "and %zu more\033[K\n", hidden);
        lines++;
    }
    double part = total->all_known && total->known > 0 ? (double)total->ended / (double)total->known : -1;
    double inside = 0; /* running transfers count as the part of one that they are */
    for (size_t i = 0; i < count; i++)
        if (bars[i].expected > 0) inside += (double)bars[i].received / (double)bars[i].expected;
    if (part >= 0 && inside > 0) part += inside / (double)total->known;
    static int64_t began;
    if (began == 0) began = now_us();
    double passed = (double)(now_us() - began) / 1e6;
    add_total(&page, total, columns, part > 0.01 && part <= 1 ? (int64_t)(passed / part - passed + 0.5) : -1,
              part > 1 ? 1 : part);
    text_puts(&page, "\033[J");
    write_all(2, page.data, page.size);
    text_free(&page);
    drawn = lines + 1;
    drawn_at = now_us();
}
