// Downloads and loads: what fields of a request do, what results and errors say.
#include "check.hpp"

#include <cstring>
#include <unistd.h>

namespace {

CASE(a_download_with_all_its_callbacks)
{
    sdd::downloader downloader;
    std::vector<std::pair<int64_t, int64_t>> progress;
    int facts = 0, completions = 0;
    sdd::download_request request;
    request.url = jpeg_url();
    request.transfer.headers = { { "X-Test", "yes" }, { "User-Agent", std::nullopt } };
    request.on_progress = [&](int64_t received, int64_t expected) { progress.push_back({ received, expected }); };
    request.on_facts = [&](const sdd::image_info &what) { facts += what.stored_width == 37 ? 1 : 100; };
    request.on_completed = [&](const sdd::result<sdd::loaded> &outcome) { completions += outcome ? 1 : 100; };
    request.decode = sdd::decode_options::to_size(20, 20);
    request.decode->pixel_format = SDD_PIXEL_FORMAT_RGB8;
    const sdd::result<sdd::loaded> outcome = downloader.download(request).get();

    CHECK(outcome.has_value() && outcome);
    CHECK_STATUS(outcome.status(), SDD_OK);
    const sdd::pixel_view pixels = outcome->image.pixels();
    CHECK(pixels.width == 20 && pixels.height == 16 && pixels.format == SDD_PIXEL_FORMAT_RGB8);
    CHECK(pixels.stride >= 60 && pixels.row(15).size() == 60 && pixels.at(19, 15).size() == 3);
    CHECK(pixels.row(1).data() == pixels.bytes.data() + pixels.stride);
    CHECK_EQUAL(outcome->image.info().stored_width, 37);
    CHECK_EQUAL(outcome->report->failure.http_status, 200);
    CHECK(outcome->response.header("content-type") == "image/jpeg" && !outcome->response.header("X-None"));
    CHECK(outcome->response.header_at(0).first.size() > 0 && outcome->response.header_at(99).first.empty());
    CHECK(downloader.idle_wait());
    const auto size = static_cast<int64_t>(outcome->bytes.size());
    CHECK(progress.front() == std::make_pair(int64_t{ 0 }, int64_t{ -1 }));
    CHECK(progress.back() == std::make_pair(size, size));
    CHECK(facts == 1 && completions == 1);
}

CASE(what_is_sent)
{
    sdd::downloader downloader;
    sdd::download_request request;
    request.url = url_of("/echo");
    request.options = SDD_OPTION_BYTES_ONLY;
    request.method = "POST";
    request.body = "a=1";
    request.transfer.headers = { { "X-Test", "yes" }, { "User-Agent", std::nullopt } };
    request.transfer.referrer = "https://example.org/";
    request.range = "0-99";
    request.transfer.accepted_status_codes = "200-299";
    CHECK(downloader.set_header("X-All", "2"));
    const auto echo = downloader.download(request).get().value();
    const std::string_view text = echo.bytes.text();
    for (const char *line : { "POST /echo HTTP/1.1\r\n", "X-Test: yes\r\n", "X-All: 2\r\n", "Range: bytes=0-99\r\n",
                              "Referer: https://example.org/\r\n", "\r\n\r\na=1" })
        if (text.find(line) == std::string_view::npos) FAIL("no %s in:\n%s", line, std::string(text).c_str());
    CHECK(text.find("User-Agent") == std::string_view::npos);
    CHECK(!echo.image);
}

CASE(errors_say_everything)
{
    sdd::downloader downloader;
    const auto missing = downloader.download(url_of("/status/404")).get();
    const sdd::error &error = missing.error();
    CHECK_STATUS(error.status(), SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE);
    CHECK_TEXT(error.name(), "SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE");
    CHECK(error.http_status() == 404 && error.error_class() == SDD_CLASS_RESPONSE && !error.retryable());
    CHECK(!error.message().empty() && error.what() == error.name() + (": " + error.message()));
    CHECK(sdd_response_status(error.report()->response) == 404 && !error.cause());
    CHECK(downloader.download(url_of("/status/503")).get().error().retryable());
    const auto lost = downloader.download(url_of("/reset")).get();
    CHECK(lost.error().error_class() == SDD_CLASS_NETWORK && lost.error().stage() != SDD_STAGE_NONE);
    CHECK(lost.error().retryable() && lost.error().curl_code() != 0);
    const auto page = downloader.download(url_of("/html")).get();
    CHECK_EQUAL(page.error().detail(), SDD_DETAIL_IMAGE_UNKNOWN_FORMAT);
    CHECK_EQUAL(page.error().error_class(), SDD_CLASS_IMAGE);
    CHECK_EQUAL(downloader.download("no URL").get().error().detail(), SDD_DETAIL_URL_MALFORMED);
    CHECK_RAISES(SDD_ERROR_INVALID_URL, (void)downloader.download("").get().value());
    const sdd::result<int> five = 5, none = error;
    CHECK(five.value_or(7) == 5 && none.value_or(7) == 7);

    // A call that waits gives the same.
    for (const char *path : { "/status/404", "/status/503", "/reset", "/html", "/cut", "/empty", "/garbage" }) {
        const auto called = downloader.submit_wait(url_of(path));
        const auto requested = downloader.download(url_of(path)).get();
        CHECK_STATUS(called.status(), requested.status());
        CHECK_EQUAL(called.error().error_class(), requested.error().error_class());
        CHECK_EQUAL(called.error().http_status(), requested.error().http_status());
        CHECK_EQUAL(called.error().detail(), requested.error().detail());
        CHECK_EQUAL(called.error().retryable(), requested.error().retryable());
        CHECK_EQUAL(called.error().stage(), requested.error().stage());
        CHECK(called.error().message() == requested.error().message());
        CHECK(called.error().report()->url == url_of(path));
    }
}

CASE(pictures_are_decoded_by_other_processes)
{
    sdd::downloader_config config;
    config.decode_mode = SDD_DECODE_ISOLATED;
    sdd::downloader here, isolated(config);
    const sdd::image first = here.submit_wait(png_url()).value().image;
    const sdd::image second = isolated.submit_wait(png_url()).value().image;
    const sdd::byte_view one = first.pixels().bytes, other = second.pixels().bytes;
    CHECK(one.size() == other.size() && std::memcmp(one.data(), other.data(), one.size()) == 0);
}

CASE(a_call_that_waits)
{
    sdd::downloader downloader;
    sdd::loader_config config;
    config.downloader = downloader.get();
    config.no_cache = true;
    sdd::loader loader(config);
    CHECK_EQUAL(downloader.submit_wait(png_url()).value().image.width(), 19);
    CHECK_STATUS(downloader.submit_wait(held("late"), 0, 50).status(), SDD_ERROR_TIMEOUT);
    CHECK_EQUAL(loader.submit_wait(png_url()).value().image.height(), 13);
    sdd::load_request request;
    request.url = url_of("/status/410");
    const auto gone = loader.submit_wait(request);
    CHECK(gone.error().http_status() == 410 && !gone.error().message().empty());
    CHECK(loader.is_blocked(request.url));
    CHECK_STATUS(loader.submit_wait(request).status(), SDD_ERROR_BLOCKED);
    CHECK(loader.remove_failed_url(request.url) && !loader.is_blocked(request.url));
    CHECK_STATUS(loader.submit_wait(held("late"), 0, 50).status(), SDD_ERROR_TIMEOUT);
}

CASE(a_load_with_alternatives_and_transforms)
{
    sdd::downloader downloader;
    sdd::cache_config cached;
    cached.levels = SDD_CACHE_MEMORY;
    sdd::cache cache(cached);
    sdd::loader_config config;
    config.downloader = downloader.get();
    config.cache = cache.get();
    sdd::loader loader(config);
    std::atomic<int> calls{ 0 };
    {
        sdd::load_request request;
        request.url = url_of("/status/404?size=1");
        request.alternatives = { url_of("/status/500"), jpeg_url() };
        request.transfer.max_attempts = 1;
        request.transfer.headers = { { "X-Test", "1" } };
        request.transforms = { sdd::transform::rotate(90), sdd::transform::crop(0, 0, 10, 20),
                               sdd::transform::callback("counted", [&](const sdd::image &picture) {
                                   calls++;
                                   return picture;
                               }) };
        const auto loaded = loader.load(request).get().value();
        CHECK(loaded.is_transformed && loaded.image.width() == 10 && loaded.image.height() == 20);
        CHECK_EQUAL(loaded.report->source_count, 2);
        const sdd_outcome *sources = loaded.report->sources;
        CHECK(sources[0].url == request.url && sources[0].failure.http_status == 404);
        CHECK(sources[1].failure.status == SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE && *sources[1].failure.message);
        CHECK_EQUAL(calls, 1);
        const auto again = loader.load(request).get().value();
        CHECK_EQUAL(again.origin, SDD_ORIGIN_MEMORY);
        CHECK_EQUAL(calls, 1);
        CHECK(again.image == loaded.image);
        CHECK(sdd::transform_key(request.transforms).value() == "rotate(90)-crop(0,0,10,20)-counted");
        CHECK(cache.memory_image(cache.key(request.url, {}, request.transforms).value()) == loaded.image);
    }
    CHECK_EQUAL(loader.running_count(), 0);
}

CASE(a_refresh_gives_both_pictures)
{
    sdd::downloader downloader;
    sdd::cache_config cached;
    cached.directory = std::string(setting("SDD_TEST_FOLDER")) + "/refresh";
    sdd::cache cache(cached);
    sdd::loader_config config;
    config.downloader = downloader.get();
    config.cache = cache.get();
    sdd::loader loader(config);
    sdd::load_request request;
    request.url = url_of("/tagged?file=png/rgb8.png");
    request.options = SDD_OPTION_WAIT_STORE_CACHE;
    CHECK(loader.load(request).get());
    int cached_count = 0;
    request.options = SDD_OPTION_REFRESH_CACHED;
    request.on_cached = [&](const sdd::loaded &what) { cached_count += what.image.width() == 19 ? 1 : 100; };
    CHECK_STATUS(loader.load(request).get().status(), SDD_ERROR_NOT_MODIFIED);
    CHECK_EQUAL(cached_count, 1);
    request.on_cached = nullptr;
    const auto waited = loader.submit_wait(request).value();
    CHECK_EQUAL(waited.image.width(), 19);
    CHECK_STATUS(waited.refresh_error->status(), SDD_ERROR_NOT_MODIFIED);
}

CASE(previews_arrive_while_the_picture_does)
{
    sdd::callback_options callbacks;
    callbacks.min_preview_interval_ms = -1;
    sdd::downloader_config config;
    config.callbacks = callbacks;
    sdd::downloader downloader(config);
    sdd::download_request request;
    // Half of the body, then the rest after the release.
    const std::string file = fixture_of("png/rgb8.png");
    request.url = url_of("/hold/preview?file=jpeg/progressive-420.jpg&after=900");
    std::atomic<int> previews{ 0 };
    request.on_preview = [&](const sdd::loaded &what) {
        CHECK(what.image.info().is_preview && !what.report->is_terminal);
        if (previews++ == 0) release("preview");
    };
    const auto outcome = downloader.download(request).get();
    CHECK(outcome && !outcome->image.info().is_preview && outcome->report->is_terminal);
    CHECK(previews >= 1);
}

CASE(a_body_goes_to_a_descriptor)
{
    int ends[2];
    CHECK(pipe(ends) == 0);
    sdd::downloader downloader;
    sdd::download_request request;
    request.url = png_url();
    request.sink = SDD_SINK_FD;
    request.sink_fd = ends[1];
    const auto outcome = downloader.download(request).get();
    close(ends[1]);
    std::string body(4096, '\0');
    body.resize(static_cast<size_t>(read(ends[0], body.data(), body.size())));
    close(ends[0]);
    CHECK(outcome && !outcome->image && !outcome->bytes && body == fixture_of("png/rgb8.png"));
}

CASE(settings_reach_the_library)
{
    sdd::downloader_config config;
    config.max_concurrent_downloads = 3;
    config.limits = sdd::limits();
    config.limits->max_body_bytes = 10;
    config.retry = sdd::retry_options();
    config.retry->max_attempts = 2;
    config.network = sdd::network_options();
    config.network->max_redirects = 4;
    config.network->address_filter = [](std::string_view address, int32_t) { return address == "127.0.0.1"; };
    config.credential = sdd::credential();
    config.credential->bearer_token = "secret";
    sdd::downloader downloader(config);
    const auto current = downloader.config().value();
    CHECK(current.max_concurrent_downloads == 3 && current.network->max_redirects == 4);
    CHECK(current.limits->max_body_bytes == 10 && current.retry->max_attempts == 2);
    CHECK_STATUS(downloader.download(png_url()).get().status(), SDD_ERROR_BODY_TOO_LARGE);
    sdd::download_request request;
    request.url = url_of("/echo");
    request.options = SDD_OPTION_BYTES_ONLY;
    request.transfer.max_body_bytes = 4096;
    CHECK(downloader.download(request).get().value().bytes.text().find("Authorization: Bearer secret") !=
          std::string_view::npos);
    request.transfer.credential = sdd::credential(); // none
    CHECK(downloader.download(request).get().value().bytes.text().find("Bearer") == std::string_view::npos);

    CHECK(downloader.set_max_concurrent_downloads(2) && downloader.set_max_concurrent_per_host(1));
    CHECK_STATUS(downloader.set_max_concurrent_downloads(0).status(), SDD_ERROR_INVALID_ARGUMENT);
    CHECK(downloader.suspend() && downloader.is_suspended() && downloader.resume());
    CHECK(downloader.set_decode_options(sdd::decode_options::to_size(5, 5)));
    CHECK(downloader.set_offline(true) && downloader.enter_background(0) && downloader.enter_foreground());
    CHECK_EQUAL(downloader.statistics().value().requests_failed, 1);
    CHECK(downloader.close(SDD_CLOSE_DRAIN) && downloader.idle_wait());
    CHECK_EQUAL(downloader.download(png_url()).get().error().detail(), SDD_DETAIL_OPERATION_CLOSED);
}

CASE(cookies_come_and_go)
{
    sdd::downloader downloader;
    sdd::cookie cookie;
    cookie.name = "a", cookie.value = "1", cookie.domain = "127.0.0.1", cookie.http_only = true;
    cookie.expires_ms = 4102444800000; // 2100
    CHECK(downloader.set_cookie(cookie));
    sdd::cookies cookies = downloader.cookies().value();
    sdd::cookies moved = std::move(cookies);
    CHECK(cookies.empty() && moved.size() == 1);
    const sdd::cookie kept = moved.at(0).value();
    CHECK(kept.name == "a" && kept.value == "1" && kept.path == "/" && kept.http_only && !kept.secure);
    CHECK_EQUAL(kept.expires_ms, cookie.expires_ms);
    CHECK_STATUS(moved.at(1).status(), SDD_ERROR_NOT_FOUND);
    CHECK(downloader.clear_cookies());
    CHECK(downloader.cookies().value().empty() && moved.size() == 1);
    CHECK_STATUS(downloader.set_cookie({}).status(), SDD_ERROR_INVALID_ARGUMENT);
}

// A load that is cancelled ends at once, while its transform runs on: its function lives until it has returned.
CASE(a_transform_outlives_its_load)
{
    std::promise<void> started, go, freed;
    // Atomic for the thread sanitizer, which does not see that the last reference to a closure orders.
    std::atomic<int> seen{ 0 };
    sdd::downloader downloader;
    sdd::loader_config config;
    config.downloader = downloader.get();
    config.no_cache = true;
    sdd::loader loader(config);
    {
        std::shared_ptr<int> number(new int(7), [&](int *deleted) {
            delete deleted;
            freed.set_value();
        });
        sdd::load_request request;
        request.url = png_url();
        request.transforms = { sdd::transform::callback(
            "waiting", [number, may_go = go.get_future().share(), &started, &seen](const sdd::image &picture) {
                started.set_value();
                may_go.wait();
                seen = *number;
                return picture;
            }) };
        const auto load = loader.load(request);
        started.get_future().wait();
        CHECK(load.cancel());
        CHECK_STATUS(load.get().status(), SDD_ERROR_CANCELLED);
    }
    auto is_freed = freed.get_future();
    CHECK(is_freed.wait_for(std::chrono::seconds(0)) == std::future_status::timeout);
    go.set_value();
    is_freed.wait();
    CHECK_EQUAL(seen.load(), 7);

    // A load that is refused frees it, too.
    auto number = std::make_shared<int>(7);
    sdd::load_request refused;
    refused.url = png_url();
    refused.transforms = { sdd::transform::callback("own", [number](const sdd::image &picture) { return picture; }) };
    CHECK_STATUS(loader.destroy(), SDD_OK);
    CHECK_STATUS(loader.load(refused).get().status(), SDD_ERROR_CLOSED);
    CHECK_STATUS(loader.submit_wait(refused).status(), SDD_ERROR_CLOSED);
    refused.transforms.clear();
    CHECK_EQUAL(number.use_count(), 1);
}

} // namespace

int main() { return run_cases(); }
