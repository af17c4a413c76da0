/* The options of all commands: one table, from which parsing, --help and the tests of the man pages are made. */
#ifndef SDD_TOOL_OPTIONS_H
#define SDD_TOOL_OPTIONS_H

#include "text.h"

#include <sdd/sdd.h>

/* Exit statuses, as sdd(1) documents them. */
enum {
    EXIT_FINE = 0,
    EXIT_SOME_FAILED = 1, /* or all, for different reasons */
    EXIT_USAGE = 2,
    EXIT_FILES = 3,    /* a file, directory or pipe could not be read or written */
    EXIT_NETWORK = 4,  /* name lookup, connection, protocol, a body that broke off */
    EXIT_TLS = 5,      /* handshake, certificate */
    EXIT_RESPONSE = 6, /* the server's answer: its status, its media type, a redirect */
    EXIT_PICTURE = 7,  /* no picture, a damaged one, a wrong checksum */
    EXIT_TIME = 8,     /* a time limit */
    EXIT_LIMIT = 9,    /* another limit, a refused address */
    EXIT_SIGNAL = 128  /* plus the signal: 130 after Ctrl-C */
};

enum { GET = 1, INFO = 2, THUMBNAIL = 4, CACHE = 8, BENCH = 16, LOADS = GET | THUMBNAIL, NETWORK = 23, ALL = 31 };

enum option_kind {
    OPTION_FLAG,     /* bool */
    OPTION_COUNT,    /* int: how often it was given */
    OPTION_TEXT,     /* const char * */
    OPTION_LIST,     /* struct strings */
    OPTION_NUMBER,   /* int64_t, between minimum and maximum */
    OPTION_BYTES,    /* int64_t */
    OPTION_DURATION, /* int64_t milliseconds */
    OPTION_SIZE,     /* two int32_t: width, height */
    OPTION_CHOICE,   /* int32_t, by name: "inside=0,fill=1" */
    OPTION_HELP,
    OPTION_REFUSED /* known from other programs; `help` is the sentence that refuses it */
};

struct strings {
    const char **items;
    size_t count;
};

/* The options as given on the command line. A field that was not given has the value that settings_defaults() gave it. */
struct settings {
    unsigned command;

    struct strings inputs;
    const char *output;
    const char *directory;
    bool content_disposition;
    bool force;
    bool no_clobber;
    bool resume;
    const char *checksum;
    bool any;
    bool verify;
    bool adjust_extension;

    int32_t width, height; /* width and height stay together: OPTION_SIZE */
    int32_t fit;
    bool enlarge;
    int32_t colour; /* one of SDD_COLOUR_ */
    bool still;
    int32_t format;
    int64_t quality;
    const char *background;
    bool progressive;
    int64_t max_output;
    int32_t show; /* one of SHOW_ */

    struct strings headers;
    const char *user_agent;
    const char *referer;
    const char *cookie;
    const char *cookie_jar;
    const char *user;
    const char *bearer;
    const char *certificate;
    const char *key;
    const char *pass;
    const char *proxy;
    const char *no_proxy;
    const char *ca_file;
    const char *ca_path;
    bool insecure;
    int32_t min_tls;
    int32_t http_version;
    bool ipv4, ipv6;
    const char *interface;
    const char *unix_socket;
    struct strings resolve;
    bool public_only;
    struct strings allow;

    int64_t parallel;
    int64_t per_host;
    int64_t wait;
    int64_t rate_limit;
    int64_t connect_timeout;
    int64_t timeout;
    int64_t max_time;
    int64_t max_redirects;
    int64_t max_size;
    int64_t max_pixels;
    const char *accept_status;
    const char *accept_type;
    int64_t tries;
    int64_t retry_delay;

    int32_t cache; /* one of CACHE_USE_ */
    const char *cache_dir;
    bool refresh;
    bool offline;

    bool json;
    bool quiet;
    int verbose;
    bool no_progress;

    bool full;
    bool thumbhash;
    int64_t count;
    bool decode;
    bool all;
    bool dry_run;
    bool damaged;
    int64_t max_age;
    const char *sort;
};

enum { SHOW_NONE = 0, SHOW_AUTO, SHOW_KITTY, SHOW_ITERM, SHOW_SIXEL, SHOW_BLOCKS };
enum { CACHE_USE_NONE = 0, CACHE_USE_HTTP, CACHE_USE_ANY };
#define NOT_GIVEN ((int64_t)-1)

struct option_row {
    const char *name;
    char letter;          /* 0: none */
    const char *argument; /* "FILE"; "[HOW]" if it may be left out; NULL: none */
    enum option_kind kind;
    size_t offset; /* in struct settings */
    unsigned commands;
    const char *group;
    bool common; /* in the short form of --help */
    const char *help;
    int64_t minimum, maximum;
    const char *choices;
};

extern const struct option_row option_rows[];
extern const size_t option_row_count;

void settings_defaults(struct settings *settings, unsigned command);

/* Whether pictures are made anew whatever their format: for another size or quality, and the like. */
bool changes_pictures(const struct settings *settings);

/* Reads options and returns the index of the first argument that is none. A bad option ends the program with
   EXIT_USAGE, --help with EXIT_FINE. */
int settings_read(struct settings *settings, int argc, char **argv);

/* Prints the options of a command: the important ones, or all. */
void print_help(unsigned command, bool all);

/* Prints "sdd get: " and a sentence, and ends the program with EXIT_USAGE. */
void usage_error(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* Refuses the command line with the library's last message, in the words of the tool. `option`: that which it is about,
   "" if the message says it. */
void usage_failure(const char *option) __attribute__((noreturn));

#endif
