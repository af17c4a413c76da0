/*
 * libcurl's setopt and getinfo functions are variadic, and Swift cannot call variadic C functions. This file has
 * one wrapper for each TYPE OF ARGUMENT, without any logic: libcurl's manual tells which option takes which type,
 * and Swift code uses libcurl's own names of the options. The file can be removed once Swift can call variadic
 * functions.
 */
#ifndef SDD_CCURL_SHIM_H
#define SDD_CCURL_SHIM_H

#include <curl/curl.h>

/* --- curl_easy_setopt --- */

static inline CURLcode sddc_set_long(CURL *easy, CURLoption option, long value)
{
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode sddc_set_off_t(CURL *easy, CURLoption option, curl_off_t value)
{
    return curl_easy_setopt(easy, option, value);
}

/* NULL resets the option to its default or unsets it, as the option's manual page says. */
static inline CURLcode sddc_set_string(CURL *easy, CURLoption option, const char *_Nullable value)
{
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode sddc_set_pointer(CURL *easy, CURLoption option, const void *_Nullable value)
{
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode sddc_set_list(CURL *easy, CURLoption option, struct curl_slist *_Nullable value)
{
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode sddc_set_write_callback(CURL *easy, CURLoption option, curl_write_callback value)
{
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode sddc_set_debug_callback(CURL *easy, CURLoption option, curl_debug_callback value)
{
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode sddc_set_socket_callback(CURL *easy, CURLoption option, curl_opensocket_callback value)
{
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode sddc_set_close_callback(CURL *easy, CURLoption option, curl_closesocket_callback value)
{
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode sddc_set_prereq_callback(CURL *easy, CURLoption option, curl_prereq_callback value)
{
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode sddc_set_share(CURL *easy, CURLoption option, CURLSH *_Nullable value)
{
    return curl_easy_setopt(easy, option, value);
}

/* --- curl_easy_getinfo: the result is stored in `value`, which does not change on an error --- */

static inline CURLcode sddc_get_long(CURL *easy, CURLINFO info, long *value)
{
    return curl_easy_getinfo(easy, info, value);
}

static inline CURLcode sddc_get_off_t(CURL *easy, CURLINFO info, curl_off_t *value)
{
    return curl_easy_getinfo(easy, info, value);
}

static inline CURLcode sddc_get_string(CURL *easy, CURLINFO info, const char *_Nullable *_Nonnull value)
{
    return curl_easy_getinfo(easy, info, value);
}

static inline CURLcode sddc_get_pointer(CURL *easy, CURLINFO info, void *_Nullable *_Nonnull value)
{
    return curl_easy_getinfo(easy, info, value);
}

/* The caller frees the list. */
static inline CURLcode sddc_get_list(CURL *easy, CURLINFO info, struct curl_slist *_Nullable *_Nonnull value)
{
    return curl_easy_getinfo(easy, info, value);
}

/* --- curl_multi_setopt --- */

static inline CURLMcode sddc_multi_set_long(CURLM *multi, CURLMoption option, long value)
{
    return curl_multi_setopt(multi, option, value);
}

/* --- curl_share_setopt --- */

static inline CURLSHcode sddc_share_set_int(CURLSH *share, CURLSHoption option, int value)
{
    return curl_share_setopt(share, option, value);
}

static inline CURLSHcode sddc_share_set_pointer(CURLSH *share, CURLSHoption option, void *_Nullable value)
{
    return curl_share_setopt(share, option, value);
}

static inline CURLSHcode sddc_share_set_lock(CURLSH *share, CURLSHoption option, curl_lock_function value)
{
    return curl_share_setopt(share, option, value);
}

static inline CURLSHcode sddc_share_set_unlock(CURLSH *share, CURLSHoption option, curl_unlock_function value)
{
    return curl_share_setopt(share, option, value);
}

/* --- constants that Swift does not import, because their macros contain casts --- */

static const unsigned long sddc_auth_basic = CURLAUTH_BASIC;
static const unsigned long sddc_auth_digest = CURLAUTH_DIGEST;
static const unsigned long sddc_auth_negotiate = CURLAUTH_NEGOTIATE;
static const unsigned long sddc_auth_ntlm = CURLAUTH_NTLM;
static const unsigned long sddc_auth_only = CURLAUTH_ONLY;

#endif /* SDD_CCURL_SHIM_H */
