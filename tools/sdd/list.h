/* URLs from the command line, then from files, a line at a time and without waiting. */
#ifndef SDD_TOOL_LIST_H
#define SDD_TOOL_LIST_H

#include "text.h"

#include <stddef.h>

/* One URL with what its list says about it. */
struct url_item {
    char *url;        /* and, after TABs, others for the same picture */
    char *output;     /* "out=" of a list, or NULL */
    char *checksum;   /* "checksum=" of a list, or NULL */
    bool is_argument; /* of the command line */
};

struct url_list {
    char *const *arguments;
    size_t argument_count;
    const char *const *files;
    size_t file_count;
    size_t next_argument, next_file;
    size_t url_file; /* next_file when the URL was read that may still get options */
    int fd;          /* -1: no file is open */
    bool ended;
    struct text buffer;
    size_t from;
    size_t line;
    int trouble;             /* files that could not be read, and lines that were refused */
    struct url_item pending; /* a URL whose options may follow */
};

enum list_answer { LIST_ITEM, LIST_WAIT, LIST_END };

/* Gives the next URL. LIST_WAIT: none before list->fd is readable. The strings of an item are the caller's. */
enum list_answer list_next(struct url_list *list, struct url_item *item);

void item_free(struct url_item *item);
void list_close(struct url_list *list);

#endif
