/* real.h - the C library's own functions, below those of interposed.c. Found before the program's main function. */
#ifndef REAL_H
#define REAL_H

#include <poll.h>
#include <pthread.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

/* The functions that are interposed: result, name, parameters. */
#define INTERPOSED(X) \
    X(int, pthread_mutex_lock, (pthread_mutex_t *)) \
    X(int, pthread_mutex_trylock, (pthread_mutex_t *)) \
    X(int, pthread_mutex_clocklock, (pthread_mutex_t *, clockid_t, const struct timespec *)) \
    X(int, pthread_mutex_unlock, (pthread_mutex_t *)) \
    X(int, pthread_rwlock_rdlock, (pthread_rwlock_t *)) \
    X(int, pthread_rwlock_wrlock, (pthread_rwlock_t *)) \
    X(int, pthread_rwlock_unlock, (pthread_rwlock_t *)) \
    X(int, pthread_cond_wait, (pthread_cond_t *, pthread_mutex_t *)) \
    X(int, pthread_cond_timedwait, (pthread_cond_t *, pthread_mutex_t *, const struct timespec *)) \
    X(int, pthread_cond_signal, (pthread_cond_t *)) \
    X(int, pthread_cond_broadcast, (pthread_cond_t *)) \
    X(int, pthread_create, (pthread_t *, const pthread_attr_t *, void *(*)(void *), void *)) \
    X(int, pthread_join, (pthread_t, void **)) \
    X(int, pthread_clockjoin_np, (pthread_t, void **, clockid_t, const struct timespec *)) \
    X(int, pthread_detach, (pthread_t)) \
    X(pthread_t, pthread_self, (void)) \
    X(int, pthread_setname_np, (pthread_t, const char *)) \
    X(int, clock_gettime, (clockid_t, struct timespec *)) \
    X(time_t, time, (time_t *)) \
    X(int, poll, (struct pollfd *, nfds_t, int)) \
    X(int, eventfd_write, (int, uint64_t)) \
    X(CURLMcode, curl_multi_poll, (CURLM *, struct curl_waitfd *, unsigned, int, int *)) \
    X(CURLMcode, curl_multi_wakeup, (CURLM *)) \
    X(CURLM *, curl_multi_init, (void)) \
    X(CURLMcode, curl_multi_add_handle, (CURLM *, CURL *)) \
    X(CURLMcode, curl_multi_remove_handle, (CURLM *, CURL *)) \
    X(CURLMcode, curl_multi_perform, (CURLM *, int *)) \
    X(CURLMsg *, curl_multi_info_read, (CURLM *, int *)) \
    X(CURLcode, curl_easy_pause, (CURL *, int)) \
    X(void, curl_easy_cleanup, (CURL *)) \
    X(int, pthread_mutex_init, (pthread_mutex_t *, const pthread_mutexattr_t *)) \
    X(int, pthread_rwlock_init, (pthread_rwlock_t *, const pthread_rwlockattr_t *)) \
    X(int, close, (int)) \
    X(ssize_t, read, (int, void *, size_t)) \
    X(ssize_t, pread, (int, void *, size_t, off_t)) \
    X(ssize_t, write, (int, const void *, size_t)) \
    X(ssize_t, writev, (int, const struct iovec *, int)) \
    X(int, fsync, (int)) \
    X(int, fdatasync, (int)) \
    X(int, ftruncate, (int, off_t)) \
    X(int, flock, (int, int)) \
    X(int, renameat, (int, const char *, int, const char *)) \
    X(int, linkat, (int, const char *, int, const char *, int)) \
    X(int, unlinkat, (int, const char *, int)) \
    X(int, mkdirat, (int, const char *, mode_t))

#define DECLARED(result, name, parameters) result(*name) parameters;
struct real {
    INTERPOSED(DECLARED)
    int (*openat)(int, const char *, int, ...);
    long (*syscall)(long, ...);
    CURLcode (*curl_easy_setopt)(CURL *, CURLoption, ...);
    CURLcode (*curl_easy_getinfo)(CURL *, CURLINFO, ...);
};
#undef DECLARED

extern struct real real;

#endif
