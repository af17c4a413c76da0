#include "failures.h"
#include "formats.h"
#include "names.h"

#include <string.h>

void fail_without_picture(struct job *job, int64_t size)
{
    struct text message = { 0 };
    text_puts(&message, "It is no picture: ");
    if (size == 0) text_puts(&message, "an empty body of ");
    if (size > 0) text_printf(&message, "%s of ", bytes_text(size));
    text_printf(&message, "type %s%s.", job->report.type.size == 0 ? "unknown" : job->report.type.data,
                job->run->convert ? "" : "; --any accepts it");
    job_fail(job, own_failure(SDD_ERROR_BAD_IMAGE_DATA, SDD_DETAIL_IMAGE_UNKNOWN_FORMAT, message.data), EXIT_PICTURE);
    text_free(&message);
}

void fail_with_name(struct job *job, int32_t format)
{
    struct text message = { 0 };
    text_printf(&message, "It is %s, and the file's name says %s: ", format_title(format), format_title(job->format));
    add_why_not(&message, job->format);
    text_puts(&message, ".");
    job_fail(job, own_failure(SDD_ERROR_UNSUPPORTED, 0, message.data), EXIT_PICTURE);
    text_free(&message);
}

bool breaks_off(const struct job *job, int32_t format)
{
    bool has_end = format == SDD_IMAGE_FORMAT_JPEG || format == SDD_IMAGE_FORMAT_PNG ||
                   format == SDD_IMAGE_FORMAT_GIF || format == SDD_IMAGE_FORMAT_WEBP;
    return has_end && job->report.end_unproven && !job->run->settings->any;
}

/* The library's sentence about a picture that nothing decodes ends with what it is, in parentheses. */
bool is_no_picture(const sdd_failure *failure)
{
    const char *reason = strchr(failure->message, '(');
    return failure->detail == SDD_DETAIL_IMAGE_UNKNOWN_FORMAT && (reason == NULL || strstr(reason, PEEK_CODER) != NULL);
}

void fail_broken_off(struct job *job, int32_t format)
{
    struct text message = { 0 };
    text_printf(&message, "The body broke off: the server announced no length, and the end of the %s did not come%s.",
                format_title(format), job->run->convert ? "" : "; --any takes what has arrived");
    sdd_failure failure = own_failure(SDD_ERROR_TRUNCATED_BODY, 0, message.data);
    failure.error_class = SDD_CLASS_NETWORK;
    failure.retryable = 1;
    job_fail(job, failure, EXIT_NETWORK);
    text_free(&message);
}
