/* Includes the header first and twice, to prove that it stands alone. Compiled as C and as C++. */
#include <sdd/sdd.h>
#include <sdd/sdd.h>

#if SDD_VERSION_MAJOR < 0 || SDD_VERSION_MINOR < 0 || SDD_VERSION_PATCH < 0
#error "the version macros are not numbers"
#endif

/* The initialisers must be constants, so that static objects can use them. */
static const sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
static const sdd_download_request request = SDD_DOWNLOAD_REQUEST_INIT;
static const sdd_event event = SDD_EVENT_INIT;

/* Bits, status numbers and details fit the types that carry them. */
static const sdd_options options = SDD_OPTION_ALLOW_INVALID_SSL_CERTIFICATES
    | SDD_OPTION_BYTES_ONLY | SDD_OPTION_PROGRESS_EVENTS;
static const sdd_status status = SDD_ERROR_BUFFER_TOO_SMALL;
static const sdd_detail detail = SDD_DETAIL_TIMEOUT_STALL;

size_t header_alone(void);
size_t header_alone(void)
{
    return config.struct_size + request.struct_size + event.struct_size + (size_t)options + (size_t)status
        + (size_t)detail + sizeof SDD_VERSION_STRING;
}
