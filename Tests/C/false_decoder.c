/* Source of a program for test_isolated in place of sdd-decoder. Its name ends with a word that says what it does: it
   stands for a decoder that somebody has taken over. */
#define _GNU_SOURCE
#include "CHelper.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static int is_called(const char *program, const char *word)
{
    size_t length = strlen(program), end = strlen(word);
    return length >= end && strcmp(program + length - end, word) == 0;
}

/* A reply that is right: a white picture as large as the test's. */
static struct sddhelper_reply good_reply(void)
{
    struct sddhelper_reply reply = { .answer = SDDHELPER_GIVEN, .good_rows = -1, .has_pixels = 1 };
    reply.width = 19, reply.height = 13, reply.pixel_format = 1, reply.stride = 19 * 4;
    return reply;
}

static void say_hello(const char *name)
{
    struct sddhelper_hello hello = { .magic = SDDHELPER_MAGIC, .protocol = SDDHELPER_PROTOCOL };
    hello.request_size = sizeof(struct sddhelper_request), hello.reply_size = sizeof(struct sddhelper_reply);
    if (is_called(name, "old")) hello.protocol--;
    if (is_called(name, "noise")) memset(&hello, 0xff, sizeof hello);
    if (is_called(name, "flawed")) hello.flaw = SDDHELPER_NO_CODER, memset(hello.reason, '\033', sizeof hello.reason);
    if (is_called(name, "text")) (void)send(SDDHELPER_SOCKET, "no \033library", 11, MSG_NOSIGNAL);
    else (void)send(SDDHELPER_SOCKET, &hello, sizeof hello, MSG_NOSIGNAL);
}

static void rest(long milliseconds)
{
    struct timespec time = { milliseconds / 1000, milliseconds % 1000 * 1000000 };
    nanosleep(&time, NULL);
}

/* Takes a hundredth of a processor for ever. */
static void nap(void)
{
    for (;;) {
        clock_t end = clock() + CLOCKS_PER_SEC / 500;
        while (clock() < end) {}
        rest(200);
    }
}

/* Sends packets that nobody has asked for, as long as there is room. */
static void fill(const struct sddhelper_reply *reply)
{
    while (send(SDDHELPER_SOCKET, reply, sizeof *reply, MSG_NOSIGNAL | MSG_DONTWAIT) > 0) {}
}

/* Changes what a reply says of its pixels. */
static void lie_about_pixels(const char *name, struct sddhelper_reply *reply)
{
    if (is_called(name, "huge")) reply->width = reply->height = INT32_MAX;
    if (is_called(name, "wide")) reply->width = INT32_MAX;
    if (is_called(name, "negative")) reply->width = -19;
    if (is_called(name, "low")) reply->height = INT32_MIN, reply->good_rows = 1;
    if (is_called(name, "other")) reply->width = 20, reply->stride = 80;
    if (is_called(name, "zero")) reply->height = 0;
    if (is_called(name, "beyond")) reply->offset = (1 << 20) - 100;
    if (is_called(name, "far")) reply->offset = UINT64_MAX - 100;
    if (is_called(name, "stride")) reply->stride = UINT64_MAX / 2;
    if (is_called(name, "narrow")) reply->stride = 1;
    if (is_called(name, "format")) reply->pixel_format = 9;
    if (is_called(name, "nowhere")) reply->has_pixels = 0;
    if (is_called(name, "rows")) reply->good_rows = 14;
    if (is_called(name, "minus")) reply->good_rows = INT64_MIN;
}

int main(int count, char **arguments)
{
    const char *name = arguments[0];
    struct sddhelper_request request;
    (void)count;
    if (is_called(name, "exits")) return 0;
    if (is_called(name, "asleep")) rest(1000000);
    if (is_called(name, "busy")) for (volatile int i = 0;; i = !i) {}
    say_hello(name);
    if (is_called(name, "leaves")) return 0;
    if (is_called(name, "aborts")) abort();
    while (recv(SDDHELPER_SOCKET, &request, sizeof request, 0) > 0) {
        struct sddhelper_reply reply = good_reply();
        size_t size = sizeof reply;
        if (request.question == SDDHELPER_CLOSE) continue;
        if (ftruncate(SDDHELPER_PIXELS, 1 << 20) != 0) return 1;
        if (is_called(name, "hangs")) continue;
        if (is_called(name, "naps")) nap();
        if (is_called(name, "loops")) for (volatile int i = 0;; i = !i) {}
        if (is_called(name, "fills")) fill(&reply);
        if (is_called(name, "dies")) return 0;
        if (is_called(name, "short")) size--;
        if (is_called(name, "empty")) size = 1;
        lie_about_pixels(name, &reply);
        if (is_called(name, "square") || is_called(name, "profile")) reply.width = reply.height = 24, reply.stride = 96;
        if (is_called(name, "profile")) reply.profile_offset = UINT64_MAX - 100, reply.profile_size = 200;
        if (is_called(name, "large")) {
            reply.width = reply.height = 10000, reply.stride = 40000;
            if (ftruncate(SDDHELPER_PIXELS, (off_t)40000 * 10000) != 0) return 1;
        }
        if (is_called(name, "answer")) reply.answer = UINT32_MAX;
        if (is_called(name, "unasked")) reply.answer = SDDHELPER_WHOLE_ONLY;
        if (is_called(name, "nothing")) reply.answer = SDDHELPER_NOTHING;
        if (is_called(name, "reason")) {
            reply.answer = SDDHELPER_FAILED;
            reply.error = INT32_MIN;
            memset(reply.reason, 0xff, sizeof reply.reason);
        }
        if (is_called(name, "time")) reply.cpu_time = INT64_MAX;
        if (is_called(name, "twice")) (void)send(SDDHELPER_SOCKET, &reply, size, 0);
        if (send(SDDHELPER_SOCKET, &reply, size, MSG_NOSIGNAL) < 0) return 1;
    }
    return 0;
}
