#include "list.h"
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LONGEST_LINE = 1 << 20, PIECE = 65536 };

void item_free(struct url_item *item)
{
    free(item->url);
    free(item->output);
    free(item->checksum);
    *item = (struct url_item){ 0 };
}

static const char *file_name(const struct url_list *list)
{
    const char *name = list->files[list->next_file - 1];
    return strcmp(name, "-") == 0 ? "standard input" : name;
}

static bool open_next(struct url_list *list)
{
    if (list->next_file == list->file_count) return false;
    const char *name = list->files[list->next_file++];
    /* Opening a named pipe does not wait for its writer: the run goes on, and waits for it as for every line. */
    list->fd = strcmp(name, "-") == 0 ? fcntl(0, F_DUPFD_CLOEXEC, 3) : open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (list->fd < 0) {
        complain("%s: %s", file_name(list), strerror(errno));
        list->trouble++;
    }
    list->ended = list->fd < 0;
    list->line = 0;
    text_clear(&list->buffer);
    list->from = 0;
    return true;
}

static void end_file(struct url_list *list)
{
    if (list->fd >= 0) close(list->fd);
    list->fd = -1;
    list->ended = true;
}

/* Reads more of the open file. Returns false if that would wait. */
static bool read_more(struct url_list *list)
{
    char piece[PIECE];
    struct pollfd wait = { .fd = list->fd, .events = POLLIN };
    if (poll(&wait, 1, 0) == 0) return false;
    ssize_t count = read(list->fd, piece, sizeof piece);
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) return false;
    if (count < 0) {
        complain("%s: %s", file_name(list), strerror(errno));
        list->trouble++;
    }
    if (count <= 0) {
        end_file(list);
        return true;
    }
    if (list->from > 0) { /* the lines before have been taken */
        memmove(list->buffer.data, list->buffer.data + list->from, list->buffer.size - list->from);
        list->buffer.size -= list->from;
        list->from = 0;
    }
    text_add(&list->buffer, piece, (size_t)count);
    return true;
}

/* Finds the next line, as `size` bytes at the buffer's `from`. */
static enum list_answer next_line(struct url_list *list, char **line, size_t *size)
{
    for (;;) {
        size_t left = list->buffer.size - list->from;
        char *start = left == 0 ? NULL : list->buffer.data + list->from,
             *end = left == 0 ? NULL : memchr(start, '\n', left);
        if (end != NULL || (list->ended && left > 0)) {
            *line = start;
            *size = end == NULL ? left : (size_t)(end - start);
            list->from += *size + (end != NULL);
            if (list->line++ == 0 && *size >= 3 && memcmp(start, "\xef\xbb\xbf", 3) == 0) /* a byte order mark */
                *line += 3, *size -= 3;
            return LIST_ITEM;
        }
        if (left > LONGEST_LINE) {
            complain("%s: line %zu is longer than %d bytes", file_name(list), list->line + 1, LONGEST_LINE);
            list->trouble++;
            end_file(list);
            text_clear(&list->buffer);
            list->from = 0;
        }
        if (list->ended && !open_next(list)) return LIST_END;
        if (!list->ended && !read_more(list)) return LIST_WAIT;
    }
}

static void refuse(struct url_list *list, const char *why)
{
    complain("%s, line %zu: %s", file_name(list), list->line, why);
    list->trouble++;
}

/* "  out=NAME" and "  checksum=HASH" belong to the URL of the line before, as in lists of aria2. */
static void read_option(struct url_list *list, struct url_item *item, const char *line, size_t size)
{
    static const char out[] = "out=", checksum[] = "checksum=";
    char **field = NULL;
    size_t name = 0;
    if (size > sizeof out - 1 && memcmp(line, out, sizeof out - 1) == 0) {
        field = &item->output;
        name = sizeof out - 1;
    } else if (size > sizeof checksum - 1 && memcmp(line, checksum, sizeof checksum - 1) == 0) {
        field = &item->checksum;
        name = sizeof checksum - 1;
    }
    bool has_url = item->url != NULL && list->url_file == list->next_file;
    if (field == NULL || !has_url) {
        refuse(list, has_url ? "the options of a URL are out= and checksum=" : "an option without a URL before it");
        return;
    }
    free(*field);
    *field = need(strndup(line + name, size - name));
}

/* Takes a URL from a line and the options from the lines after it, up to the next URL, which stays. */
static enum list_answer next_of_file(struct url_list *list, struct url_item *item)
{
    char *line = NULL;
    size_t size = 0;
    for (;;) {
        enum list_answer answer = next_line(list, &line, &size);
        if (answer == LIST_WAIT) return answer;
        if (answer == LIST_END) return item->url != NULL ? LIST_ITEM : LIST_END;
        bool indented = size > 0 && (line[0] == ' ' || line[0] == '\t');
        size_t blank = 0;
        while (blank < size && (line[blank] == ' ' || line[blank] == '\t')) blank++;
        while (size > blank && (line[size - 1] == '\r' || line[size - 1] == ' ' || line[size - 1] == '\t')) size--;
        /* What reads the answer to a URL before it writes the next one ends the URL's options by an empty line. */
        if (size == blank && item->url != NULL) return LIST_ITEM;
        if (size == blank || line[blank] == '#') continue;
        if (memchr(line, 0, size) != NULL) {
            refuse(list, "a NUL byte");
        } else if (indented) {
            read_option(list, item, line + blank, size - blank);
        } else if (item->url != NULL) {
            list->from = (size_t)(line - list->buffer.data);
            list->line--;
            return LIST_ITEM;
        } else {
            item->url = need(strndup(line, size));
            list->url_file = list->next_file;
        }
    }
}

enum list_answer list_next(struct url_list *list, struct url_item *item)
{
    *item = (struct url_item){ 0 };
    if (list->next_argument < list->argument_count) {
        item->url = need_copy(list->arguments[list->next_argument++]);
        item->is_argument = true;
        return LIST_ITEM;
    }
    if (list->file_count == 0) return LIST_END;
    if (list->next_file == 0) list->ended = true, list->fd = -1;
    /* An item of which only the URL has arrived waits here for its options or the next line. */
    item->url = list->pending.url, item->output = list->pending.output, item->checksum = list->pending.checksum;
    list->pending = (struct url_item){ 0 };
    enum list_answer answer = next_of_file(list, item);
    if (answer == LIST_WAIT) {
        list->pending = *item;
        *item = (struct url_item){ 0 };
    }
    return answer;
}

void list_close(struct url_list *list)
{
    if (list->file_count > 0 && list->next_file > 0) end_file(list);
    item_free(&list->pending);
    text_free(&list->buffer);
}
