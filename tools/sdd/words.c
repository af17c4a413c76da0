#include "words.h"

#include <string.h>

static const struct {
    const char *field, *option;
} names[] = {
    { "accepted_content_types", "accept-type" },
    { "accepted_status_codes", "accept-status" },
    { "address_exceptions", "allow" },
    { "bearer_token", "bearer" },
    { "ca_file", "cacert" },
    { "ca_path", "capath" },
    { "client_certificate", "cert" },
    { "client_key", "key" },
    { "client_key_password", "pass" },
    { "cookie_file", "cookie-jar" },
    { "directory", "cache-dir" },
    { "http_version", "http" },
    { "max_bytes", "max-output" },
    { "min_tls_version", "min-tls" },
    { "network_interface", "interface" },
    { "no_proxy", "no-proxy" },
    { "password", "user" },
    { "proxy", "proxy" },
    { "resolve", "resolve" },
    { "unix_socket_path", "unix-socket" },
    { "username", "user" },
};

static const char *option_of(const char *field, size_t size)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i].field) == size && memcmp(names[i].field, field, size) == 0) return names[i].option;
    return NULL;
}

void add_words(struct text *sentence, const char *message)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_.";
    size_t size = strspn(message, letters), from = size, length = size;
    while (from > 0 && message[from - 1] != '.') from--;
    if (message[length] == '[') length += strcspn(message + length, ":"); /* "resolve[2]" */
    if (strncmp(message, "sdd_", 4) == 0 && strncmp(message + length, ": ", 2) == 0) {
        const char *option = option_of(message + from, size - from);
        if (option != NULL) text_printf(sentence, "--%s: ", option);
        message += length + 2;
    }
    text_puts(sentence, message);
}

void add_hint(struct text *sentence, const sdd_failure *failure)
{
    static const struct {
        int32_t number;
        const char *options;
    } hints[] = {
        { SDD_ERROR_BODY_TOO_LARGE, "--max-size" },
        { SDD_ERROR_TOO_MANY_REDIRECTS, "--max-redirects" },
        { SDD_ERROR_INVALID_DOWNLOAD_CONTENT_TYPE, "--accept-type" },
        { SDD_ERROR_ADDRESS_REFUSED, "--allow" },
        { SDD_DETAIL_IMAGE_TOO_MANY_PIXELS, "--max-pixels" },
        { SDD_DETAIL_TLS_CLIENT_CERTIFICATE, "--cert, --key and --pass" },
        { SDD_DETAIL_TIMEOUT_CONNECT, "--connect-timeout" },
        { SDD_DETAIL_TIMEOUT_STALL, "--timeout" },
        { SDD_DETAIL_TIMEOUT_TOTAL, "--max-time" },
    };
    if (failure->status == SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE && failure->http_status == 401)
        text_puts(sentence, " See --user and --bearer.");
    if (failure->status == SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE && failure->http_status < 400)
        text_puts(sentence, " See --accept-status.");
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
        if (hints[i].number == failure->status || hints[i].number == failure->detail)
            text_printf(sentence, " See %s.", hints[i].options);
}
