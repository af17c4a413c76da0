#include "output.h"
#include "session.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int output_error;
static bool is_closed; /* there is no standard output, which matters once something is printed */
void (*before_complaint)(void);

void begin_output(void)
{
    for (int fd = 0; fd < 3; fd++) {
        if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
        if (open("/dev/null", fd == 0 ? O_RDONLY : O_WRONLY) != fd) _exit(EXIT_FILES);
        if (fd == 1) is_closed = true;
    }
}

int write_all(int fd, const void *data, size_t size)
{
    const char *at = data;
    struct stat facts;
    /* A pipe that can be written to takes so many bytes without a wait, which no signal before it would end. */
    bool may_wait = fstat(fd, &facts) != 0 || !S_ISREG(facts.st_mode);
    size_t most = may_wait ? PIPE_BUF : 1 << 20;
    while (size > 0) {
        if (may_wait && !wait_writable(fd)) return EINTR;
        ssize_t count = write(fd, at, size > most ? most : size);
        if (count < 0 && (errno == EAGAIN || errno == EINTR)) continue;
        if (count < 0) return errno;
        at += count;
        size -= (size_t)count;
    }
    return 0;
}

void print_out(const char *data, size_t size)
{
    if (output_error == 0) output_error = is_closed ? EBADF : write_all(1, data, size);
}

bool output_failed(void) { return output_error != 0; }

int finish_output(int status)
{
    if (output_error == 0) return status;
    if (output_error == EINTR) return status; /* the signal has given it */
    if (output_error == EPIPE) return status >= EXIT_SIGNAL ? status : EXIT_SIGNAL + SIGPIPE;
    complain("standard output: %s", strerror(output_error));
    return status >= EXIT_SIGNAL ? status : EXIT_FILES;
}

void complain(const char *format, ...)
{
    struct text line = { 0 }, sentence = { 0 };
    va_list arguments;
    va_start(arguments, format);
    text_vprintf(&sentence, format, arguments);
    va_end(arguments);
    text_puts(&line, "sdd: ");
    text_add_clean(&line, sentence.data, sentence.size);
    text_putc(&line, '\n');
    if (before_complaint != NULL) before_complaint();
    write_all(2, line.data, line.size);
    text_free(&sentence);
    text_free(&line);
}
