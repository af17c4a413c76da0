/*
 * sdd/modifier.h - Modifiers of requests, responses and bodies.
 *
 * A program, which the tests of the library compile and run:
 *
 *     #include <sdd/sdd.h>
 *     #include <stdio.h>
 *
 *     static sdd_status sign(sdd_draft *draft, void *user_data)
 *     {
 *         return sdd_draft_set_header(draft, "X-Signature", (const char *)user_data);
 *     }
 *
 *     int main(void)
 *     {
 *         static char key[] = "secret";
 *         sdd_modifiers modifiers = SDD_MODIFIERS_INIT;
 *         modifiers.request_modifier = sign;
 *         modifiers.user_data = key;
 *         if (sdd_downloader_set_modifiers(NULL, &modifiers) != SDD_OK) return 1;
 *         return sdd_get(NULL, "https://example.org/a.jpg", 0, 30000, NULL, NULL, NULL) != SDD_OK;
 *     }
 */
#ifndef SDD_MODIFIER_H
#define SDD_MODIFIER_H

#include "result.h"

SDD_BEGIN_DECLS

/* ------------------------------------------------------------------------------------ modifiers */

/**
 * Looks at a request before it is queued, and may change it through the sdd_draft_ functions. What
 * it leaves is what is sent, and what other requests are compared with for sharing a transfer.
 *
 * @param draft Borrowed until the callback returns.
 * @param user_data That of the sdd_modifiers.
 * @return SDD_OK to go on; anything else refuses: the request ends with
 *     SDD_ERROR_INVALID_DOWNLOAD_OPERATION and SDD_DETAIL_OPERATION_MODIFIER.
 * Thread: the submitting one, inside the submitting call.
 */
typedef sdd_status (*sdd_request_modifier_fn)(sdd_draft *SDD_NONNULL draft,
                                              void *SDD_NULLABLE user_data) SDD_NOEXCEPT;

/**
 * What a response modifier makes of a response. The library fills it with what the server said.
 * Since: 0.2.0.
 */
typedef struct sdd_response_change {
    size_t struct_size;
    int32_t http_status; /* the status to go on with */
    int32_t reserved;
    /* The media type to go on with; copied when the callback returns */
    const char *SDD_NULLABLE mime_type;
    /* Since 0.3.0. header_count fields to set, copied when the callback returns: they replace those
       of the response by name, and one with value NULL removes them. A name that comes more than
       once is there as often. What follows: sdd_result.response and what sdd_token_get_response()
       gives have them, a body transform sees them, Content-Type is the media type to go on with
       unless mime_type is changed as well, and Retry-After counts for attempts after this one and
       for the failed URLs of a loader. What caches do follows what the server said: they keep that,
       and the modifier is asked again whenever a body comes from there */
    const sdd_header *SDD_NULLABLE headers;
    size_t header_count;
} sdd_response_change;

/**
 * Looks at a response before its status and type are judged, and may change both, and its header
 * fields. With one, a body is read to its end before it is judged.
 *
 * @param response As the server gave it. Borrowed until the callback returns.
 * @param change Status and type to go on with; may be changed.
 * @param user_data As for sdd_request_modifier_fn.
 * @return SDD_OK to go on; anything else refuses: SDD_ERROR_INVALID_DOWNLOAD_RESPONSE. So does a
 *     header field that HTTP does not allow.
 * Thread: a decode thread; several at a time for different requests. It may take its time, and call
 *     any sdd_ function that does not wait.
 */
typedef sdd_status (*sdd_response_modifier_fn)(sdd_response *SDD_NONNULL response,
                                               sdd_response_change *SDD_NONNULL change,
                                               void *SDD_NULLABLE user_data) SDD_NOEXCEPT;

/**
 * Makes other bytes of a body, before it is decoded and handed out: decryption, say. No previews of
 * a picture are made where there is one.
 *
 * @param body The whole body. Borrowed until the callback returns; may be retained.
 * @param response Borrowed until the callback returns.
 * @param user_data As for sdd_request_modifier_fn.
 * @return Bytes with one reference, which the library takes over: from sdd_bytes_create(), or
 *     `body` itself retained. NULL: the request ends with SDD_ERROR_BAD_IMAGE_DATA and
 *     SDD_DETAIL_IMAGE_TRANSFORM.
 * Thread: as sdd_response_modifier_fn.
 */
typedef sdd_bytes *SDD_NULLABLE (*sdd_body_transform_fn)(sdd_bytes *SDD_NONNULL body,
                                                         sdd_response *SDD_NONNULL response,
                                                         void *SDD_NULLABLE user_data) SDD_NOEXCEPT;

/**
 * Callbacks that change requests and responses. Of a request's own and the downloader's, the
 * request's win, one by one; only requests with the same ones share a transfer. Since: 0.2.0.
 */
typedef struct sdd_modifiers {
    size_t struct_size;
    sdd_request_modifier_fn SDD_NULLABLE request_modifier;
    sdd_response_modifier_fn SDD_NULLABLE response_modifier;
    sdd_body_transform_fn SDD_NULLABLE body_transform;
    /* For all three; used until user_data_free is called, also for a while after the request has
       ended */
    void *SDD_NULLABLE user_data;
    /* Called once, on any thread, when user_data is of no use any more; never if the submitting
       call returned 0 */
    void (*SDD_NULLABLE user_data_free)(void *SDD_NULLABLE user_data) SDD_NOEXCEPT;
} sdd_modifiers;

#define SDD_MODIFIERS_INIT \
    { sizeof(sdd_modifiers), NULL, NULL, NULL, NULL, NULL }

/**
 * The URL of a draft.
 *
 * @param draft What the request modifier was given.
 * @return Never NULL, but for draft NULL.
 * Thread: the modifier's. Lifetime: until it is changed, or the modifier returns. Since: 0.2.0.
 */
SDD_API const char *SDD_NULLABLE sdd_draft_url(sdd_draft *SDD_NULLABLE draft);

/** The method of a draft, "GET". Otherwise as sdd_draft_url(). Since: 0.2.0. */
SDD_API const char *SDD_NULLABLE sdd_draft_method(sdd_draft *SDD_NULLABLE draft);

/**
 * The value of a draft's first header field of that name; NULL when there is none. Otherwise as
 * sdd_draft_url().
 *
 * @param name Compared without regard to case.
 * Since: 0.2.0.
 */
SDD_API const char *SDD_NULLABLE sdd_draft_header(sdd_draft *SDD_NULLABLE draft,
                                                  const char *SDD_NONNULL name);

/**
 * Changes the URL of a draft.
 *
 * @param url Copied. The rules of sdd_download() hold.
 * @return SDD_OK; SDD_ERROR_INVALID_URL, and the draft is as before; SDD_ERROR_INVALID_ARGUMENT for
 *     draft NULL.
 * Thread: the modifier's. Since: 0.2.0.
 */
SDD_API sdd_status sdd_draft_set_url(sdd_draft *SDD_NULLABLE draft, const char *SDD_NONNULL url);

/**
 * Changes the method of a draft. To GET or HEAD, a body is dropped.
 *
 * @param method An HTTP token. Copied.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT.
 * Thread: the modifier's. Since: 0.2.0.
 */
SDD_API sdd_status sdd_draft_set_method(sdd_draft *SDD_NULLABLE draft,
                                        const char *SDD_NONNULL method);

/**
 * Sets a header field of a draft, or, with value NULL, removes it; all of that name, if it comes
 * more than once.
 *
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT for a name or value that HTTP does not allow.
 * Thread: the modifier's. Since: 0.2.0.
 */
SDD_API sdd_status sdd_draft_set_header(sdd_draft *SDD_NULLABLE draft, const char *SDD_NONNULL name,
                                        const char *SDD_NULLABLE value);

/**
 * Replaces the body of a draft; its method must not be GET or HEAD.
 *
 * @param data Copied. NULL with size 0 removes the body.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT; SDD_ERROR_NO_RESOURCES when there is no memory for a
 *     copy.
 * Thread: the modifier's. Since: 0.2.0.
 */
SDD_API sdd_status sdd_draft_set_body(sdd_draft *SDD_NULLABLE draft, const void *SDD_NULLABLE data,
                                      size_t size);

SDD_END_DECLS

#endif /* SDD_MODIFIER_H */
