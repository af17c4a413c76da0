/*
 * fake_curl.h - the functions of libcurl that make transfers, in front of its own. The hosts of network.c answer them,
 * without a socket: on the thread that calls curl_multi_perform(), through the callbacks that the library has set.
 */
#ifndef FAKE_CURL_H
#define FAKE_CURL_H

#include <sdd/sdd.h>

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

/* An easy handle. */
struct easy;

/* The next downloader that is made has this number. */
void number_next_downloader(int number);

/* For network.c: */
const void *multi_of(const struct easy *easy);
int is_paused(const struct easy *easy);
/* Returns 0 if the library ends the transfer. A size of -1: it is not announced. */
int easy_respond(struct easy *easy, int status, const sdd_header *fields, size_t count, int64_t size);
/* Returns 1 if the bytes are taken, 0 if the library ends the transfer, -1 if it pauses. */
int easy_write(struct easy *easy, const void *bytes, size_t size);
void easy_finish(struct easy *easy, sdd_status status);

/* Of network.c: a transfer begins, or is taken out. */
void begin_by_curl(struct easy *easy, int downloader, const char *url, const struct curl_slist *fields);
void end_by_curl(const struct easy *easy);
/* When the hosts of the transfers of a multi handle answer next; -1: never. */
int64_t next_by_curl(const void *multi);
/* Lets those answer whose time has come. */
void answer_by_curl(const void *multi);
/* Of interposed.c: lets the threads go on that wait for something which is there now. */
void look_at_descriptors(void);

#endif
