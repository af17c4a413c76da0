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
 * Inspects a request before it is queued, and may change it through the sdd_draft_ functions. The
 * changed request is sent, and is the one compared with others for sharing a transfer.
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
 * The changes that a response modifier makes. The library fills it with the server's values.
 */
typedef struct sdd_response_change {
    size_t struct_size;
    int32_t http_status; /* the status to go on with */
    /* The media type to go on with; copied when the callback returns. */
    const char *SDD_NULLABLE mime_type;
    /* The header_count fields to set, copied when the callback returns. They replace
       the response's fields by name; value NULL removes a field, and a name given more than once is
       there as often. sdd_result.response, sdd_token_get_response() and a body transform see them.
       Content-Type becomes the media type unless mime_type is changed too, and Retry-After applies
       to later attempts and to a loader's failed URLs. Caches follow and keep what the server said;
       the modifier is called again whenever a body comes from a cache. */
    const sdd_header *SDD_NULLABLE headers;
    size_t header_count;
} sdd_response_change;

/**
 * Inspects a response before its status and media type are checked, and may change both and the
 * header fields. The body is read to its end first.
 *
 * @param response As the server sent it. Borrowed until the callback returns.
 * @param change The values to go on with; may be changed.
 * @param user_data As for sdd_request_modifier_fn.
 * @return SDD_OK to go on; anything else, or a header field that HTTP does not allow, refuses:
 *     SDD_ERROR_INVALID_DOWNLOAD_RESPONSE.
 * Thread: a decode thread; several at a time for different requests. It may take its time, and call
 *     any sdd_ function that does not wait.
 */
typedef sdd_status (*sdd_response_modifier_fn)(sdd_response *SDD_NONNULL response,
                                               sdd_response_change *SDD_NONNULL change,
                                               void *SDD_NULLABLE user_data) SDD_NOEXCEPT;

/**
 * Converts a body before it is decoded and delivered, to decrypt it for instance. Pictures with a
 * body transform have no previews.
 *
 * @param body The whole body. Borrowed until the callback returns; may be retained.
 * @param response Borrowed until the callback returns. Its header fields are those after the
 *     response modifier, its status and media type those of the server.
 * @param user_data As for sdd_request_modifier_fn.
 * @return Bytes with one reference, which the library takes over: from sdd_bytes_create(), or
 *     `body` itself after sdd_bytes_retain(). NULL: the request ends with SDD_ERROR_BAD_IMAGE_DATA
 *     and SDD_DETAIL_IMAGE_TRANSFORM.
 * Thread: as sdd_response_modifier_fn.
 */
typedef sdd_bytes *SDD_NULLABLE (*sdd_body_transform_fn)(sdd_bytes *SDD_NONNULL body,
                                                         sdd_response *SDD_NONNULL response,
                                                         void *SDD_NULLABLE user_data) SDD_NOEXCEPT;

/**
 * Callbacks that change requests and responses. Each one that a request sets overrides the
 * downloader's. Only requests with the same modifiers share a transfer.
 */
typedef struct sdd_modifiers {
    size_t struct_size;
    sdd_request_modifier_fn SDD_NULLABLE request_modifier;
    sdd_response_modifier_fn SDD_NULLABLE response_modifier;
    sdd_body_transform_fn SDD_NULLABLE body_transform;
    /* Passed to all three. Used until user_data_free is called, which may be after the request has
       ended. */
    void *SDD_NULLABLE user_data;
    sdd_user_data_free_fn SDD_NULLABLE user_data_free;
} sdd_modifiers;

#define SDD_MODIFIERS_INIT \
    { sizeof(sdd_modifiers), NULL, NULL, NULL, NULL, NULL }

/**
 * Returns the URL of a draft.
 *
 * @param draft The draft that the request modifier received.
 * @return NULL only for NULL.
 * Thread: the modifier's. Lifetime: until it is changed or the modifier returns.
 */
SDD_API const char *SDD_NULLABLE sdd_draft_url(sdd_draft *SDD_NULLABLE draft);

/** Returns the method of a draft, such as "GET". Otherwise as sdd_draft_url(). */
SDD_API const char *SDD_NULLABLE sdd_draft_method(sdd_draft *SDD_NULLABLE draft);

/**
 * Returns the value of the draft's first header field with a name, or NULL if there is none.
 * Otherwise as sdd_draft_url().
 *
 * @param name Compared without regard to case.
 * Thread: the modifier's.
 */
SDD_API const char *SDD_NULLABLE sdd_draft_header(sdd_draft *SDD_NULLABLE draft,
                                                  const char *SDD_NONNULL name);

/**
 * Changes the URL of a draft.
 *
 * @param url Copied. As for sdd_download().
 * @return SDD_OK; SDD_ERROR_INVALID_URL, and the draft is unchanged; SDD_ERROR_INVALID_ARGUMENT for
 *     draft NULL.
 * Thread: the modifier's.
 */
SDD_API sdd_status sdd_draft_set_url(sdd_draft *SDD_NULLABLE draft, const char *SDD_NONNULL url);

/**
 * Changes the method of a draft. GET and HEAD drop the body.
 *
 * @param method An HTTP token. Copied.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT.
 * Thread: the modifier's.
 */
SDD_API sdd_status sdd_draft_set_method(sdd_draft *SDD_NULLABLE draft,
                                        const char *SDD_NONNULL method);

/**
 * Sets a header field of a draft, in place of all fields with that name; value NULL removes them.
 *
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT for a name or value that HTTP does not allow, and for
 *     Content-Length and Transfer-Encoding, of which the library sends the one that fits the body.
 * Thread: the modifier's.
 */
SDD_API sdd_status sdd_draft_set_header(sdd_draft *SDD_NULLABLE draft, const char *SDD_NONNULL name,
                                        const char *SDD_NULLABLE value);

/**
 * Replaces the body of a draft, whose method must not be GET or HEAD.
 *
 * @param data Copied. May be NULL if size is 0.
 * @param size The number of bytes; 0 removes the body.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT; SDD_ERROR_NO_RESOURCES if there is no memory for a
 *     copy.
 * Thread: the modifier's.
 */
SDD_API sdd_status sdd_draft_set_body(sdd_draft *SDD_NULLABLE draft, const void *SDD_NULLABLE data,
                                      size_t size);

SDD_END_DECLS

#endif /* SDD_MODIFIER_H */
