/*
 * server.h - the servers that run.sh has started: URLs on them, commands to the fault server (see
 * Tests/FaultServer/README.md), and the expected bodies.
 */
#ifndef SERVER_H
#define SERVER_H

#include "check.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <sys/socket.h>

/* ------------------------------------------------------------------------------------ addresses */

/* Returns a URL made of a variable's value and a path. Valid until 16 more calls on this thread. */
static inline const char *address_at(const char *variable, const char *path)
{
    static __thread char made[16][1024];
    static __thread unsigned turn;
    char *place = made[turn++ % 16];
    snprintf(place, sizeof made[0], "%s%s", setting(variable), path);
    return place;
}

/* Returns a URL on the fault server. */
static inline const char *at(const char *path) { return address_at("SDD_TEST_SERVER", path); }

__attribute__((format(printf, 1, 2))) static inline const char *atf(const char *format, ...)
{
    char path[900];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(path, sizeof path, format, arguments);
    va_end(arguments);
    return at(path);
}

/* ----------------------------------------------------------------------- commands to the server */

static inline int loopback_socket(struct sockaddr_in *address, int port)
{
    memset(address, 0, sizeof *address);
    address->sin_family = AF_INET;
    address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address->sin_port = htons((uint16_t)port);
    return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

/* Requests a path, without the library, from the server that a variable names. Returns the number at the start of the
   reply's body. */
static inline long order_at(const char *variable, const char *path)
{
    struct sockaddr_in address;
    char text[4096];
    size_t filled = 0;
    int descriptor = loopback_socket(&address, atoi(strrchr(setting(variable), ':') + 1));
    CHECK(connect(descriptor, (struct sockaddr *)&address, sizeof address) == 0);
    int length = snprintf(text, sizeof text, "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", path);
    CHECK(write(descriptor, text, (size_t)length) == length);
    for (ssize_t count; (count = read(descriptor, text + filled, sizeof text - 1 - filled)) > 0;)
        filled += (size_t)count;
    close(descriptor);
    text[filled] = 0;
    if (strncmp(text, "HTTP/1.1 200", 12) != 0) FAIL("the server answers %s with: %s", path, text);
    const char *body = strstr(text, "\r\n\r\n");
    return body ? strtol(body + 4, NULL, 10) : 0;
}

static inline long order(const char *path) { return order_at("SDD_TEST_SERVER", path); }

__attribute__((format(printf, 1, 2))) static inline long orderf(const char *format, ...)
{
    char path[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(path, sizeof path, format, arguments);
    va_end(arguments);
    return order(path);
}

/* Returns how often a path was requested. */
static inline long requests_of(const char *path) { return orderf("/count?path=%s", path); }
/* Waits until a path was requested so often. */
static inline void wait_for_requests(const char *path, int count) { orderf("/wait?path=%s&count=%d", path, count); }
/* Releases the requests that wait at /hold/NAME. */
static inline void release(const char *name) { orderf("/release/%s", name); }

/* The version of the libcurl that is loaded, such as 0x075801: its headers are not needed to ask for it. */
static inline unsigned libcurl_version(void)
{
    typedef struct { int age; const char *text; unsigned version; } information;
    information *(*ask)(int) = NULL;
    *(void **)&ask = dlsym(RTLD_DEFAULT, "curl_version_info");
    CHECK(ask != NULL);
    return ask(0)->version;
}

/* --------------------------------------------------------------------------------------- bodies */

/* Whether these are the bytes that the server sends for a target, which is a path and query. */
static inline int is_pattern(const uint8_t *bytes, size_t size, const char *target)
{
    uint32_t seed = 2166136261u;
    for (const char *byte = target; *byte; byte++) seed = (seed ^ (uint8_t)*byte) * 16777619u;
    for (size_t i = 0; i < size; i++)
        if (bytes[i] != (uint8_t)((seed >> (8 * (i & 3))) + i * 31 + (i >> 8) * 17)) return 0;
    return 1;
}

/* Reads a file of Tests/Fixtures and appends a NUL. The caller frees the result. */
static inline uint8_t *fixture(const char *name, size_t *size)
{
    FILE *file = fopen(address_at("SDD_TEST_FIXTURES", name), "rb");
    if (file == NULL) FAIL("there is no fixture %s", name);
    uint8_t *bytes = (uint8_t *)calloc(1, (1 << 20) + 1);
    *size = fread(bytes, 1, 1 << 20, file);
    fclose(file);
    return bytes;
}

#endif
