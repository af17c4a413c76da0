// Uses the header from C++17: callbacks are noexcept lambdas, and a unique_ptr holds references.
#define SDD_NOEXCEPT_CALLBACKS
#include "server.h"

#include <cstring>
#include <memory>
#include <string>
#include <type_traits>

namespace {

struct Release {
    void operator()(sdd_image *image) const noexcept { sdd_image_release(image); }
    void operator()(sdd_downloader *downloader) const noexcept { sdd_downloader_destroy(downloader); }
};

using Image = std::unique_ptr<sdd_image, Release>;
using Downloader = std::unique_ptr<sdd_downloader, Release>;

struct Outcome {
    Image image;
    std::string message = "nothing came", url;
    int64_t received = 0;
    bool freed = false;
};

// A callback that may throw does not convert.
using Thrower = void (*)(const sdd_result *, void *);
static_assert(!std::is_convertible_v<Thrower, sdd_result_fn>);

void one_download()
{
    sdd_network_options network = SDD_NETWORK_OPTIONS_INIT;
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    config.network = &network;
    network.ca_file = setting("SDD_TEST_CA");
    sdd_downloader *made = nullptr;
    CHECK_STATUS(sdd_downloader_create(&config, &made), SDD_OK);
    Downloader downloader{made};

    Outcome outcome;
    const std::string url = address_at("SDD_TEST_TLS", "/png/rgb8.png");
    sdd_download_request request = SDD_DOWNLOAD_REQUEST_INIT;
    request.url = url.c_str();
    request.user_data = &outcome;
    request.progress = [](sdd_token, int64_t received, int64_t, const char *, void *data) noexcept {
        static_cast<Outcome *>(data)->received = received;
    };
    request.completed = [](const sdd_result *result, void *data) noexcept {
        auto &outcome = *static_cast<Outcome *>(data);
        outcome.image.reset(sdd_image_retain(result->image));
        outcome.message = result->failure.message;
        outcome.url = result->url;
    };
    request.user_data_free = [](void *data) noexcept { static_cast<Outcome *>(data)->freed = true; };
    CHECK(sdd_downloader_submit(downloader.get(), &request) != 0);
    CHECK_STATUS(sdd_downloader_idle_wait(downloader.get(), -1), SDD_OK);
    downloader.reset();

    CHECK_TEXT(outcome.message.c_str(), "");
    CHECK(outcome.url == url && outcome.freed);
    CHECK_EQUAL(outcome.received, sdd_bytes_size(sdd_image_bytes(outcome.image.get())));
    CHECK_EQUAL(sdd_image_width(outcome.image.get()), 19);
    CHECK_EQUAL(sdd_image_height(outcome.image.get()), 13);
}

void zeros_are_the_default()
{
    sdd_download_request request{}, other = SDD_DOWNLOAD_REQUEST_INIT;
    request.struct_size = sizeof request;
    CHECK(std::memcmp(&request, &other, sizeof request) == 0);
}

} // namespace

int main()
{
    start_watchdog();
    RUN(one_download);
    RUN(zeros_are_the_default);
    return 0;
}
