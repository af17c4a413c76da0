#include "options.h"
#include "hints.h"
#include "output.h"
#include "suggest.h"
#include "words.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_OPTIONS = 255 };

static unsigned current_command;

static const struct {
    unsigned command;
    const char *name, *arguments, *about;
} commands[] = {
    { GET, "get", "URL...", "Downloads pictures, many at once, to files." },
    { INFO, "info", "FILE|URL...", "Prints what a picture is, reading no more of it than needed." },
    { THUMBNAIL, "thumbnail", "FILE|URL...", "Makes small pictures: NAME-thumb.EXT in this directory." },
    { CACHE, "cache", "ls|get|rm|trim|stats|verify|merge [ARGUMENT...]", "Looks into a cache, and cleans it." },
    { BENCH, "bench", "URL...", "Measures how fast URLs can be downloaded and decoded." },
};

static const char *command_name(unsigned command)
{
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (commands[i].command == command) return commands[i].name;
    return "";
}

void usage_error(const char *format, ...)
{
    struct text line = { 0 }, sentence = { 0 };
    va_list arguments;
    va_start(arguments, format);
    text_vprintf(&sentence, format, arguments);
    va_end(arguments);
    const char *name = command_name(current_command);
    text_printf(&line, "sdd%s%s: ", *name == 0 ? "" : " ", name);
    text_add_clean(&line, sentence.data, sentence.size);
    fprintf(stderr, "%s\nTry: sdd %s%s--help\n", line.data, name, *name == 0 ? "" : " ");
    text_free(&sentence);
    text_free(&line);
    exit(EXIT_USAGE);
}

void usage_failure(const char *option)
{
    struct text words = { 0 };
    if (*option != 0) text_printf(&words, "--%s: ", option);
    add_words(&words, sdd_last_error_message());
    usage_error("%s", words.data);
}

void settings_defaults(struct settings *settings, unsigned command)
{
    *settings = (struct settings){ .command = command,
                                   .parallel = 6,
                                   .per_host = NOT_GIVEN,
                                   .tries = command == BENCH ? 1 : 3,
                                   .wait = NOT_GIVEN,
                                   .retry_delay = NOT_GIVEN,
                                   .connect_timeout = NOT_GIVEN,
                                   .timeout = NOT_GIVEN,
                                   .max_time = NOT_GIVEN,
                                   .max_redirects = NOT_GIVEN,
                                   .max_size = NOT_GIVEN,
                                   .max_pixels = NOT_GIVEN,
                                   .quality = NOT_GIVEN,
                                   .max_output = NOT_GIVEN,
                                   .max_age = NOT_GIVEN,
                                   .count = 100 };
}

bool changes_pictures(const struct settings *settings)
{
    return settings->width > 0 || settings->height > 0 || settings->quality != NOT_GIVEN ||
           settings->max_output != NOT_GIVEN || settings->progressive;
}

/* ------------------------------------------------------------------------------------------------------------ help */

static void print_row(struct text *page, const struct option_row *row)
{
    struct text left = { 0 };
    if (row->letter != 0)
        text_printf(&left, "-%c, ", row->letter);
    else
        text_puts(&left, "    ");
    text_printf(&left, "--%s", row->name);
    if (row->argument != NULL && row->argument[0] == '[')
        text_printf(&left, "[=%.*s]", (int)strlen(row->argument) - 2, row->argument + 1);
    else if (row->argument != NULL)
        text_printf(&left, " %s", row->argument);
    text_printf(page, " %-22s %s\n", left.data, row->help);
    text_free(&left);
}

void print_help(unsigned command, bool all)
{
    struct text page = { 0 };
    const char *group = NULL;
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (commands[i].command != command) continue;
        text_printf(&page, "Usage: sdd %s [OPTION...] %s\n%s\n", commands[i].name, commands[i].arguments,
                    commands[i].about);
    }
    for (size_t i = 0; i < option_row_count; i++) {
        const struct option_row *row = &option_rows[i];
        if (!(row->commands & command) || row->kind == OPTION_REFUSED || !(all || row->common)) continue;
        if (all && row->group != group) text_printf(&page, "\n%s:\n", row->group);
        group = row->group;
        print_row(&page, row);
    }
    if (!all) text_printf(&page, "More: sdd %s --help=all; man sdd-%s\n", command_name(command), command_name(command));
    print_out(page.data, page.size);
    text_free(&page);
}

/* --------------------------------------------------------------------------------------------------------- parsing */

/* The value of a name in "inside=0,fill=1", or -1. */
static int32_t choice_value(const char *choices, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = choices; at != NULL; at = strchr(at, ',')) {
        if (*at == ',') at++;
        if (strncmp(at, name, length) == 0 && at[length] == '=') return (int32_t)atoi(at + length + 1);
    }
    return -1;
}

/* Refuses a value, and lists the ones that the option takes: "inside, fill, stretch". */
static void bad_choice(const struct option_row *row, const char *value)
{
    struct text names = { 0 };
    for (const char *at = row->choices; at != NULL; at = strchr(at, ',')) {
        if (*at == ',') at++;
        if (*at == '=') continue;
        if (names.size > 0) text_puts(&names, ", ");
        text_add(&names, at, strcspn(at, "="));
    }
    usage_error("--%s: \"%s\" is none of %s", row->name, value, names.data);
}

static void add_string(struct strings *strings, const char *value)
{
    strings->items = need(realloc(strings->items, (strings->count + 1) * sizeof *strings->items));
    strings->items[strings->count++] = value;
}

static void set_number(const struct option_row *row, int64_t *field, const char *value)
{
    int64_t number = 0;
    if (row->kind == OPTION_NUMBER) {
        if (!parse_number(value, row->minimum, row->maximum, &number))
            usage_error("--%s: \"%s\" is not a number from %lld to %lld", row->name, value, (long long)row->minimum,
                        (long long)row->maximum);
    } else if (row->kind == OPTION_BYTES) {
        if (!parse_bytes(value, &number) || number < row->minimum)
            usage_error("--%s: \"%s\" is not a number of bytes, such as 500000, 200K or 1.5M", row->name, value);
    } else if (!parse_duration(value, &number) || number < row->minimum)
        usage_error("--%s: \"%s\" is not a time, such as 500ms, 2s or 5m", row->name, value);
    *field = number;
}

static void set_field(struct settings *settings, const struct option_row *row, const char *value)
{
    void *field = (char *)settings + row->offset;
    switch (row->kind) {
    case OPTION_FLAG: *(bool *)field = true; break;
    case OPTION_COUNT: (*(int *)field)++; break;
    case OPTION_TEXT: *(const char **)field = value; break;
    case OPTION_LIST: add_string(field, value); break;
    case OPTION_NUMBER:
    case OPTION_BYTES:
    case OPTION_DURATION: set_number(row, field, value); break;
    case OPTION_SIZE:
        if (!parse_size(value, field, (int32_t *)field + 1))
            usage_error("--%s: \"%s\" is not a size, such as 512x384, 512, 512x or x384", row->name, value);
        break;
    case OPTION_CHOICE:
        *(int32_t *)field = choice_value(row->choices, value == NULL ? "" : value);
        if (*(int32_t *)field < 0) bad_choice(row, value);
        break;
    case OPTION_HELP:
        if (value != NULL && strcmp(value, "all") != 0) usage_error("--help: \"%s\" is not \"all\"", value);
        print_help(settings->command, value != NULL);
        exit(finish_output(EXIT_FINE));
    case OPTION_REFUSED:
        if (row->letter != 0) usage_error("there is no -%c, --%s: %s", row->letter, row->name, row->help);
        usage_error("there is no --%s: %s", row->name, row->help);
    }
}

/* Fills getopt's tables with the rows of a command; `val` of an option is the row's index + 256. */
static void make_tables(unsigned command, struct option *longs, struct text *letters, short *by_letter)
{
    size_t count = 0;
    text_putc(letters, ':'); /* getopt stays silent: the messages are ours */
    for (size_t i = 0; i < option_row_count; i++) {
        const struct option_row *row = &option_rows[i];
        if (!(row->commands & command)) continue;
        bool optional = row->argument != NULL && row->argument[0] == '[';
        longs[count++] = (struct option){ row->name,
                                          row->argument == NULL ? no_argument
                                          : optional            ? optional_argument
                                                                : required_argument,
                                          NULL, (int)i + 256 };
        if (row->letter == 0 || by_letter[(unsigned char)row->letter] >= 0) continue;
        by_letter[(unsigned char)row->letter] = (short)i;
        text_putc(letters, row->letter);
        if (row->argument != NULL && !optional) text_putc(letters, ':');
    }
}

static void bad_letter(int letter)
{
    const char *hint = hint_for(NULL, letter);
    if (hint != NULL) usage_error("there is no -%c: %s", letter, hint);
    usage_error("there is no option -%c", letter);
}

/* Refuses a long option that does not exist, or that is the beginning of several. */
static void bad_option(unsigned command, const char *given)
{
    struct text name = { 0 }, several = { 0 };
    text_add(&name, given + 2, strcspn(given + 2, "="));
    struct suggestion near = { .given = text_string(&name) };
    const char *hint = hint_for(near.given, 0);
    unsigned others = 0;
    if (hint != NULL) usage_error("there is no --%s: %s", near.given, hint);
    for (size_t i = 0; i < option_row_count; i++) {
        const struct option_row *row = &option_rows[i];
        if (row->kind == OPTION_REFUSED) continue;
        if (strcmp(row->name, near.given) == 0) others |= row->commands;
        if (!(row->commands & command)) continue;
        suggest_offer(&near, row->name);
        if (strncmp(row->name, near.given, name.size) != 0) continue;
        text_printf(&several, "%s--%s", several.size > 0 ? ", " : "", row->name);
    }
    if (several.size > 0 && name.size > 0)
        usage_error("--%s is the beginning of several: %s", near.given, several.data);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (others & commands[i].command)
            usage_error("there is no option --%s; sdd %s has one", near.given, commands[i].name);
    usage_error("there is no option --%s%s", near.given, suggest_words(&near, "--"));
}

int settings_read(struct settings *settings, int argc, char **argv)
{
    struct option longs[MOST_OPTIONS + 1] = { { 0 } }; /* getopt wants an empty one at the end */
    struct text letters = { 0 };
    short by_letter[256];
    int option = 0;
    if (option_row_count > MOST_OPTIONS) abort();
    memset(by_letter, -1, sizeof by_letter);
    current_command = settings->command;
    make_tables(settings->command, longs, &letters, by_letter);
    optind = 1;
    while ((option = getopt_long(argc, argv, letters.data, longs, NULL)) != -1) {
        if (option == '?' || option == ':') {
            const char *given = argv[optind - 1];
            if (option == ':' && optopt >= 256) usage_error("--%s needs a value", option_rows[optopt - 256].name);
            if (option == ':') usage_error("-%c needs a value", optopt);
            if (optopt >= 256) usage_error("--%s takes no value", option_rows[optopt - 256].name);
            if (optopt != 0) bad_letter(optopt);
            bad_option(settings->command, given);
        }
        size_t index = option >= 256 ? (size_t)option - 256 : (size_t)by_letter[option];
        set_field(settings, &option_rows[index], optarg);
    }
    text_free(&letters);
    return optind;
}
