// Uses the header from C++: callbacks are lambdas without captures, and noexcept from C++17 on.
#define SDD_NOEXCEPT_CALLBACKS
#include <sdd/sdd.h>

#include <cstdio>
#include <type_traits>

template <typename Type> constexpr bool is_plain()
{
    return std::is_standard_layout<Type>::value && std::is_trivial<Type>::value;
}
static_assert(is_plain<sdd_downloader_config>() && is_plain<sdd_download_request>()
                  && is_plain<sdd_event>() && is_plain<sdd_result>()
                  && is_plain<sdd_metrics>() && is_plain<sdd_failure>() && is_plain<sdd_outcome>()
                  && is_plain<sdd_header>()
                  && is_plain<sdd_cache_config>() && is_plain<sdd_cache_item>()
                  && is_plain<sdd_cache_query_options>() && is_plain<sdd_cache_statistics>(),
              "structs are plain data");

#if __cplusplus >= 201703L
extern "C" {
using completed_that_throws = void (*)(const sdd_result *, void *);
}
static_assert(!std::is_convertible<completed_that_throws, sdd_result_fn>::value,
              "a callback that may throw is not one");
extern "C" {
using serializer_that_throws = sdd_bytes *(*)(sdd_image *, sdd_bytes *, const char *, void *);
}
static_assert(!std::is_convertible<serializer_that_throws, sdd_cache_serializer_fn>::value,
              "a serializer that may throw is not one");
#endif

int main()
{
    int completions = 0;
    sdd_download_request request = SDD_DOWNLOAD_REQUEST_INIT;
    request.url = "not a URL";
    request.completed = [](const sdd_result *result, void *user_data) SDD_NOEXCEPT {
        *static_cast<int *>(user_data) += result->failure.status == SDD_ERROR_INVALID_URL ? 1 : 100;
    };
    request.progress = [](sdd_token, int64_t, int64_t, const char *, void *) SDD_NOEXCEPT {};
    request.user_data = &completions;
    request.user_data_free = [](void *user_data) SDD_NOEXCEPT { *static_cast<int *>(user_data) += 10; };

    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    config.delivery = SDD_DELIVERY_APPLICATION;
    sdd_downloader *downloader = nullptr;
    if (sdd_downloader_create(&config, &downloader) != SDD_OK || sdd_downloader_submit(downloader, &request) == 0
        || sdd_downloader_idle_wait(downloader, 30000) != SDD_OK || sdd_downloader_destroy(downloader) != SDD_OK
        || completions != 11) {
        std::fprintf(stderr, "header_cxx.cc: status %d, completions %d\n", sdd_last_error(nullptr), completions);
        return 1;
    }
    std::puts("ok header_cxx.cc");
    return 0;
}
