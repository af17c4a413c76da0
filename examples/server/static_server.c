/* cc -std=c99 -O2 -pthread static_server.c -o static_server
 *
 * static_server: serves the files of one directory over HTTP/1.1, on 127.0.0.1 only. It has just
 * enough functions for the demo and the tests.
 *
 *     static_server [--rate BYTES_PER_SECOND] [--require "Name: value"] DIR [PORT]
 *
 * --rate     slows each connection down, so that progress is visible.
 * --require  responds with 403 to requests without that header line, like sites that check the Referer.
 * PORT       0, the default, takes a free one. The line "listening http://127.0.0.1:PORT/" names it.
 *
 * It ends at SIGTERM or SIGINT, and when its standard input is closed: give it a pipe, and it ends
 * with the program that started it.
 */
#define _POSIX_C_SOURCE 200809L
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int root;             /* the directory; set before the first connection, like the next two */
static long rate;            /* bytes a second; 0: no limit */
static const char *required; /* a whole header line, or NULL */

static void stop(int signal_number)
{
    (void)signal_number;
    _exit(0);
}

static int send_all(int peer, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t sent = send(peer, data, size, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return 0;
        data += sent;
        size -= (size_t)sent;
    }
    return 1;
}

/* Sends exactly `left` bytes of the file, in twenty portions a second if there is a rate. */
static int send_file(int peer, int file, off_t left)
{
    char block[65536];
    size_t portion = sizeof block;
    struct timespec pause = { 0, 50000000 };

    if (rate > 0 && (size_t)rate / 20 < portion) portion = rate < 20 ? 1 : (size_t)rate / 20;
    while (left > 0) {
        ssize_t got = read(file, block, left < (off_t)portion ? (size_t)left : portion);
        if (got <= 0 || !send_all(peer, block, (size_t)got))
            return 0; /* the length has been sent already, so the connection must be closed */
        left -= got;
        if (rate > 0 && left > 0) nanosleep(&pause, NULL);
    }
    return 1;
}

/* Cuts off the query, and returns whether the path stays inside the directory. It does not decode "%2e" to a dot. */
static int clean_path(char *path)
{
    path[strcspn(path, "?#")] = '\0';
    return path[0] == '/' && strstr(path, "/.") == NULL; /* "..", ".", and hidden files */
}

static const char *type_of(const char *path)
{
    static const char *const types[][2] = {
        { ".jpg", "image/jpeg" }, { ".jpeg", "image/jpeg" }, { ".png", "image/png" }, { ".html", "text/html" }
    };
    const char *dot = strrchr(path, '.');

    for (size_t i = 0; dot != NULL && i < sizeof types / sizeof types[0]; i++)
        if (strcasecmp(dot, types[i][0]) == 0) return types[i][1];
    return "application/octet-stream";
}

/* Returns whether one of the header lines begins with `line` (and, if `whole`, ends there). */
static int has_line(const char *head, const char *line, int whole)
{
    size_t length = strlen(line);

    while ((head = strstr(head, "\r\n")) != NULL) {
        head += 2;
        if (strncasecmp(head, line, length) == 0 && (!whole || strncmp(head + length, "\r\n", 2) == 0)) return 1;
    }
    return 0;
}

static int refuse(int peer, int status, const char *reason, int with_body, int keep)
{
    char text[256], body[64];
    int size = snprintf(body, sizeof body, "%d %s\n", status, reason);

    snprintf(text, sizeof text,
             "HTTP/1.1 %d %s\r\nContent-Type: text/plain\r\nContent-Length: %d\r\nConnection: %s\r\n\r\n%s", status,
             reason, size, keep ? "keep-alive" : "close", with_body ? body : "");
    return send_all(peer, text, strlen(text)) && keep;
}

/* Handles one request, whose head ends with an empty line and a NUL. Returns whether the connection continues. */
static int answer(int peer, char *head)
{
    char method[8], path[4096], version[16], text[256];
    struct stat status;
    int with_body, keep, file, ok;

    if (sscanf(head, "%7[A-Z] %4095[^ \r\n] %15[^ \r\n]", method, path, version) != 3)
        return refuse(peer, 400, "Bad Request", 1, 0);
    with_body = strcmp(method, "HEAD") != 0;
    keep = strcmp(version, "HTTP/1.1") == 0 && !has_line(head, "Connection: close", 1);
    if (with_body && strcmp(method, "GET") != 0)
        return refuse(peer, 405, "Method Not Allowed", 1, 0); /* a body may follow: close the connection */
    if (has_line(head, "Content-Length:", 0) || has_line(head, "Transfer-Encoding:", 0))
        return refuse(peer, 400, "Bad Request", with_body, 0);
    if (required != NULL && !has_line(head, required, 1)) return refuse(peer, 403, "Forbidden", with_body, keep);
    if (!clean_path(path)) return refuse(peer, 404, "Not Found", with_body, keep);
    file = openat(root, strcmp(path, "/") == 0 ? "index.html" : path + 1 + strspn(path + 1, "/"),
                  O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0 || fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) {
        if (file >= 0) close(file);
        return refuse(peer, 404, "Not Found", with_body, keep);
    }
    snprintf(text, sizeof text, "HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %lld\r\nConnection: %s\r\n\r\n",
             type_of(path), (long long)status.st_size, keep ? "keep-alive" : "close");
    ok = send_all(peer, text, strlen(text)) && (!with_body || send_file(peer, file, status.st_size));
    close(file);
    return ok && keep;
}

/* Handles a connection: one request after the other, until one side closes it. */
static void *serve(void *argument)
{
    int peer = *(int *)argument, go_on = 1;
    char buffer[16384];
    size_t filled = 0;

    free(argument);
    while (go_on) {
        char *end, after;
        ssize_t got;
        buffer[filled] = '\0';
        if ((end = strstr(buffer, "\r\n\r\n")) == NULL) {
            if (filled + 1 == sizeof buffer) break;
            got = recv(peer, buffer + filled, sizeof buffer - 1 - filled, 0);
            if (got <= 0) break;
            filled += (size_t)got;
            continue;
        }
        end += 4;
        after = *end;
        *end = '\0';
        go_on = answer(peer, buffer);
        *end = after;
        filled -= (size_t)(end - buffer);
        memmove(buffer, end, filled);
    }
    close(peer);
    return NULL;
}

static void start_thread(int peer)
{
    struct timeval limit = { 60, 0 }; /* for a peer that sends nothing, or accepts nothing */
    int *argument = malloc(sizeof *argument), yes = 1;
    pthread_t thread;

    setsockopt(peer, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(peer, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    setsockopt(peer, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes); /* a small file must not be delayed after its head */
    if (argument == NULL) exit(1);
    *argument = peer;
    if (pthread_create(&thread, NULL, serve, argument) == 0) {
        pthread_detach(thread);
        return;
    }
    free(argument);
    close(peer);
}

static int listen_on(long port)
{
    struct sockaddr_in address;
    socklen_t size = sizeof address;
    int yes = 1, listener = socket(AF_INET, SOCK_STREAM, 0);

    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_port = htons((uint16_t)port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, size) != 0 || listen(listener, 128) != 0 ||
        getsockname(listener, (struct sockaddr *)&address, &size) != 0) {
        perror("static_server");
        exit(1);
    }
    printf("listening http://127.0.0.1:%d/\n", ntohs(address.sin_port));
    fflush(stdout);
    return listener;
}

int main(int argc, char **argv)
{
    int i = 1;
    long port;
    struct pollfd watched[2] = { { 0, POLLIN, 0 }, { STDIN_FILENO, POLLIN, 0 } };

    for (; i + 1 < argc && strncmp(argv[i], "--", 2) == 0; i += 2) {
        if (strcmp(argv[i], "--rate") == 0)
            rate = atol(argv[i + 1]);
        else if (strcmp(argv[i], "--require") == 0)
            required = argv[i + 1];
        else
            break;
    }
    port = i + 1 < argc ? atol(argv[i + 1]) : 0;
    if (i >= argc || argc - i > 2 || argv[i][0] == '-' || rate < 0 || port < 0 || port > 65535) {
        fprintf(stderr, "usage: static_server [--rate BYTES_PER_SECOND] [--require \"Name: value\"] DIR [PORT]\n");
        return 2;
    }
    if ((root = open(argv[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0) {
        perror(argv[i]);
        return 1;
    }
    signal(SIGPIPE, SIG_IGN);
    signal(SIGTERM, stop);
    signal(SIGINT, stop);
    watched[0].fd = listen_on(port);
    for (;;) {
        char ignored[256];
        if (poll(watched, 2, -1) < 0) continue;
        if (watched[1].revents != 0 && read(STDIN_FILENO, ignored, sizeof ignored) <= 0) return 0;
        if (watched[0].revents != 0) {
            int peer = accept(watched[0].fd, NULL, NULL);
            if (peer >= 0) start_thread(peer);
        }
    }
}
