/* cc -std=c99 -O2 auth.c $(pkg-config --cflags --libs sdd) -o auth
 *
 * auth: downloads one picture from a server that requires authentication.
 *
 *     auth [-u USER:PASSWORD | -t TOKEN] [-e CERTIFICATE [-k KEY]] [-c CA_FILE] URL
 *
 * -u answers the server's challenge (Basic, Digest and other schemes of libcurl). -t sends a bearer token at once.
 * -e sends a client certificate in the TLS handshake, from a PEM file; its key may be in the same file, or in KEY. -c
 * trusts the certificates in CA_FILE instead of the system's. Exit status 0: success; 3: the server responded with 401
 * or 403; 1: another error.
 */
#define _POSIX_C_SOURCE 200809L /* getopt */
#include <sdd/sdd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { GOOD = 0, FAILED = 1, USAGE = 2, REFUSED = 3 };

static void completed(const sdd_result *result, void *user_data)
{
    int *outcome = user_data;

    if (result->failure.status == SDD_OK) {
        printf("%s: %d x %d\n", result->url, (int)sdd_image_width(result->image), (int)sdd_image_height(result->image));
        *outcome = GOOD;
    } else if (result->failure.http_status == 401 || result->failure.http_status == 403) {
        /* A rejected password is sent only once, so that no server locks the account. The response is available
         * on errors too, and names the schemes that the server accepts. */
        const char *wanted = sdd_response_header(result->response, "WWW-Authenticate");
        printf("%s: HTTP %d, wanted: %s\n", result->url, (int)result->failure.http_status,
               wanted != NULL ? wanted : "?");
        *outcome = REFUSED;
    } else {
        /* The detail distinguishes an unreadable client certificate from an untrusted server. */
        printf("%s: %s (detail %d): %s\n", result->url, sdd_status_name(result->failure.status),
               (int)result->failure.detail, result->failure.message);
        *outcome = FAILED;
    }
}

/* Submits the request, and waits for its end. */
static int download(sdd_downloader *downloader, const char *url, const sdd_credential *credential)
{
    sdd_download_request request = SDD_DOWNLOAD_REQUEST_INIT;
    sdd_transfer_options transfer = SDD_TRANSFER_OPTIONS_INIT;
    int outcome = FAILED;

    request.url = url;
    /* A credential is for the server of this URL: a redirect to another host, port or scheme drops it. A credential
     * in sdd_downloader_config would be sent with every request that has none, whatever its server. */
    transfer.credential = credential;
    request.transfer = &transfer;
    request.completed = completed;
    request.user_data = &outcome;
    if (sdd_downloader_submit(downloader, &request) == 0 ||   /* copies all of it, the credential too */
        sdd_downloader_idle_wait(downloader, -1) != SDD_OK) { /* calls completed() */
        fprintf(stderr, "auth: %s\n", sdd_last_error_message());
        return FAILED;
    }
    return outcome;
}

int main(int argc, char **argv)
{
    sdd_network_options network = SDD_NETWORK_OPTIONS_INIT;
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    config.network = &network;
    sdd_credential credential = SDD_CREDENTIAL_INIT;
    sdd_downloader *downloader;
    sdd_status status;
    char *colon;
    int option, outcome, given = 0;

    while ((option = getopt(argc, argv, "u:t:e:k:c:")) != -1) {
        given |= option != 'c';
        if (option == 'u' && (colon = strchr(optarg, ':')) != NULL) {
            /* Other users of the machine can read command lines: a real program prompts, or reads a file. */
            *colon = '\0';
            credential.username = optarg;
            credential.password = colon + 1;
        } else if (option == 't') {
            credential.bearer_token = optarg;
        } else if (option == 'e') {
            credential.client_certificate = optarg;
        } else if (option == 'k') {
            credential.client_key = optarg;
        } else if (option == 'c') {
            network.ca_file = optarg;
        } else {
            argc = 0;
            break;
        }
    }
    if (optind + 1 != argc) {
        fprintf(stderr, "usage: auth [-u USER:PASSWORD | -t TOKEN] [-e CERTIFICATE [-k KEY]] [-c CA_FILE] URL\n");
        return USAGE;
    }
    config.delivery = SDD_DELIVERY_APPLICATION; /* callbacks run inside sdd_downloader_idle_wait(), on this thread */
    status = sdd_downloader_create(&config, &downloader);
    if (status != SDD_OK) {
        fprintf(stderr, "auth: %s\n", sdd_last_error_message());
        return FAILED;
    }
    outcome = download(downloader, argv[optind], given ? &credential : NULL); /* an empty credential is refused */
    status = sdd_downloader_destroy(downloader);
    return status == SDD_OK ? outcome : FAILED;
}
