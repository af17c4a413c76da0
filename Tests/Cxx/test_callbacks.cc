// Exceptions in callbacks: those of a request end it, all others go to the handler. Modifiers and observers.
#include "check.hpp"

namespace {

struct Own : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Ends a download of one of whose callbacks throws, and checks that it throws the same.
void check_ended_by(const sdd::result<sdd::loaded> &outcome)
{
    CHECK_STATUS(outcome.status(), SDD_ERROR_CANCELLED);
    CHECK_EQUAL(outcome.error().error_class(), SDD_CLASS_CANCELLED);
    CHECK(outcome.error().cause() && outcome.error().message().find("mine") != std::string::npos);
    std::string said;
    try {
        (void)outcome.value();
    } catch (const Own &own) {
        said = own.what();
    }
    CHECK(said == "mine");
}

CASE(an_exception_ends_its_request)
{
    sdd::downloader downloader;
    Thrown thrown;
    int later = 0;
    sdd::download_request request;
    request.url = url_of("/hold/progress?file=png/rgb8.png&after=10");
    // Only the exception can end it.
    request.transfer.download_timeout_ms = request.transfer.low_speed_time_ms = SDD_NO_LIMIT;
    request.on_progress = [&](int64_t, int64_t) { throw Own("mine"); };
    request.on_completed = [&](const sdd::result<sdd::loaded> &) { later++; };
    check_ended_by(downloader.download(request).get()); // the body never ends: it was cancelled
    CHECK_EQUAL(later, 0); // no callback follows

    request = {};
    request.url = jpeg_url();
    request.on_facts = [](const sdd::image_info &) { throw Own("mine"); };
    check_ended_by(downloader.download(request).get());

    request = {};
    request.url = jpeg_url();
    request.on_completed = [](const sdd::result<sdd::loaded> &) { throw Own("mine"); };
    check_ended_by(downloader.download(request).future().get());
    CHECK_THROWN(thrown, );
    CHECK(downloader.download(jpeg_url()).get()); // the downloader goes on
}

CASE(an_exception_in_submitted_callbacks_is_handed_on)
{
    sdd::downloader downloader;
    Thrown thrown;
    int completions = 0;
    sdd::download_request request;
    request.url = jpeg_url();
    request.on_facts = [](const sdd::image_info &) { throw 5; };
    request.on_completed = [&](const sdd::result<sdd::loaded> &outcome) {
        completions += outcome ? 1 : 100;
        throw Own("mine");
    };
    CHECK(downloader.submit(request));
    CHECK(downloader.idle_wait());
    CHECK_EQUAL(completions, 1);
    CHECK_THROWN(thrown, "on_facts: an exception that is no std::exception", "on_completed: mine");
}

CASE(modifiers_change_what_is_sent_and_received)
{
    sdd::downloader downloader;
    auto alive = std::make_shared<int>(0);
    {
        sdd::modifier_functions functions;
        functions.request = [alive](sdd::draft &draft) {
            CHECK(draft.method() == "GET" && draft.header("X-Old") == "1" && !draft.header("X-None"));
            CHECK(draft.set_method("POST") && draft.set_body(sdd::as_bytes("body")) && draft.remove_header("X-Old"));
            CHECK(draft.set_header("X-Url", std::string(draft.url())));
            CHECK_STATUS(draft.set_url("nonsense").status(), SDD_ERROR_INVALID_URL);
            return static_cast<bool>(draft.set_url(url_of("/echo")));
        };
        functions.response = [](const sdd::response &response, sdd::response_change &change) {
            CHECK(response.status() == 200 && change.http_status == 200);
            change.http_status = 299;
            change.mime_type = "text/x-made";
            change.headers = { { "X-Made", "long enough to be on the heap, not in the string itself" },
                               { "Server", {} } };
            return true;
        };
        functions.body = [](const sdd::bytes &body, const sdd::response &response) {
            return response.header("X-Made") ? sdd::bytes::copy_of("<" + std::string(body.text()) + ">") : body;
        };
        sdd::download_request request;
        request.url = url_of("/ok");
        request.options = SDD_OPTION_BYTES_ONLY;
        request.transfer.accepted_content_types = "text/x-made";
        request.transfer.headers = { { "X-Old", "1" } };
        request.transfer.modifiers = sdd::modifiers(std::move(functions));
        const auto loaded = downloader.download(request).get().value();
        CHECK_EQUAL(loaded.report->failure.http_status, 299);
        CHECK(loaded.response.header("X-Made") == "long enough to be on the heap, not in the string itself");
        const std::string_view text = loaded.bytes.text();
        CHECK(text.substr(0, 12) == "<POST /echo " && text.substr(text.size() - 5) == "body>");
        CHECK(text.find("X-Url: " + request.url) != std::string_view::npos);
        CHECK(text.find("X-Old") == std::string_view::npos);

        // A request that is refused gives the functions back, too.
        sdd::downloader dead, moved = std::move(dead);
        CHECK_STATUS(dead.download(request).get().status(), SDD_ERROR_CLOSED);
        sdd::load_request load;
        load.url = jpeg_url();
        load.transfer = request.transfer;
        sdd::loader_config config;
        config.downloader = downloader.get();
        config.no_cache = true;
        sdd::loader loader(config), gone = std::move(loader);
        CHECK_STATUS(loader.submit_wait(load).status(), SDD_ERROR_CLOSED);
        CHECK_STATUS(loader.load(load).get().status(), SDD_ERROR_CLOSED);
        load.transfer = {};
        load.transfer.modifiers = sdd::modifiers({ [alive](sdd::draft &) { return true; }, {}, {} });
        CHECK(gone.submit_wait(load));
        CHECK(gone.load(load).get());
        load.url = url_of("/status/404");
        CHECK(!gone.submit_wait(load));
        load.transforms = { sdd::transform::blur(-1) };
        CHECK_STATUS(gone.submit_wait(load).status(), SDD_ERROR_INVALID_ARGUMENT);
        CHECK(downloader.set_modifiers(*request.transfer.modifiers));
        CHECK(downloader.set_modifiers(std::nullopt));
    }
    CHECK_STATUS(downloader.destroy(), SDD_OK);
    CHECK_EQUAL(alive.use_count(), 1); // all functions are freed
}

CASE(requests_with_the_same_modifiers_share_a_transfer)
{
    sdd::downloader downloader;
    sdd::download_request request;
    request.url = held("shared");
    request.transfer.modifiers = sdd::modifiers({ {}, [](const auto &, auto &) { return true; }, {} });
    auto first = downloader.download(request);
    auto second = downloader.download(request);
    release("shared");
    CHECK(first.get() && second.get());
    CHECK_EQUAL(requests_of("/hold/shared"), 1);
}

CASE(modifiers_that_throw_or_refuse)
{
    sdd::downloader downloader;
    Thrown thrown;
    sdd::download_request request;
    request.url = png_url();
    auto &modifiers = request.transfer.modifiers;
    modifiers = sdd::modifiers({ [](sdd::draft &) -> bool { throw Own("draft"); }, {}, {} });
    CHECK_EQUAL(downloader.download(request).get().error().detail(), SDD_DETAIL_OPERATION_MODIFIER);
    modifiers = sdd::modifiers({ {}, [](const auto &, auto &) -> bool { throw Own("response"); }, {} });
    CHECK_STATUS(downloader.download(request).get().status(), SDD_ERROR_INVALID_DOWNLOAD_RESPONSE);
    modifiers = sdd::modifiers({ {}, {}, [](const auto &, const auto &) -> sdd::bytes { throw Own("body"); } });
    CHECK_EQUAL(downloader.download(request).get().error().detail(), SDD_DETAIL_IMAGE_TRANSFORM);
    CHECK_THROWN(thrown, "modifiers.request: draft", "modifiers.response: response", "modifiers.body: body");
    modifiers = sdd::modifiers({ [](sdd::draft &) { return false; }, {}, {} });
    CHECK_EQUAL(downloader.download(request).get().error().detail(), SDD_DETAIL_OPERATION_MODIFIER);
    CHECK_THROWN(thrown, );
}

CASE(observers_see_transfers)
{
    sdd::downloader downloader;
    auto alive = std::make_shared<int>(0);
    std::vector<int32_t> kinds;
    CHECK(downloader.set_observer([&, alive](const sdd_notice &notice) { kinds.push_back(notice.kind); }));
    CHECK(downloader.download(png_url()).get() && downloader.idle_wait());
    CHECK(kinds == (std::vector<int32_t>{ SDD_EVENT_START, SDD_EVENT_RESPONSE, SDD_EVENT_FINISH, SDD_EVENT_STOP }));
    CHECK(downloader.set_observer(nullptr));
    std::string lines;
    CHECK(downloader.set_log(SDD_LOG_INFO, [&, alive](const sdd_notice &notice) { lines += notice.failure.message; }));
    CHECK(!downloader.download(url_of("/status/500")).get() && downloader.idle_wait());
    CHECK(lines.find("500") != std::string::npos);
    CHECK_STATUS(downloader.set_log(99, [alive](const sdd_notice &) {}).status(), SDD_ERROR_INVALID_ARGUMENT);
    Thrown thrown;
    CHECK(downloader.set_log(SDD_LOG_INFO, [](const sdd_notice &) { throw Own("line"); }));
    CHECK(!downloader.download(url_of("/status/500")).get() && downloader.idle_wait());
    CHECK(thrown.take().at(0) == "observer: line");
    CHECK_STATUS(downloader.destroy(), SDD_OK);
    CHECK_EQUAL(alive.use_count(), 1);
}

CASE(functions_of_a_configuration)
{
    Thrown thrown;
    std::atomic<int> starts{ 0 }, stops{ 0 }, asked{ 0 };
    auto alive = std::make_shared<int>(0);
    sdd::downloader_config config;
    config.callbacks = sdd::callback_options();
    config.callbacks->on_thread_start = [&, alive] { starts++; };
    config.callbacks->on_thread_stop = [&, alive] {
        stops++;
        throw Own("stop");
    };
    config.network = sdd::network_options();
    config.network->address_filter = [&, alive](std::string_view address, int32_t port) -> bool {
        CHECK(address == "127.0.0.1" && port > 0);
        if (asked++ > 0) throw Own("filter");
        return true;
    };
    {
        sdd::downloader downloader(config), moved = std::move(downloader);
        config = {};
        CHECK(moved.download(png_url()).get());
        sdd::download_request closing;
        closing.url = url_of("/ok?file=png/rgb8.png&close");
        CHECK(moved.download(closing).get());
        CHECK(moved.download(closing).get() || asked > 1);
    }
    CHECK(starts == 1 && stops == 1 && asked >= 1);
    for (const std::string &each : thrown.take())
        CHECK(each == "on_thread_stop: stop" || each == "address_filter: filter");
    CHECK_EQUAL(alive.use_count(), 1);
}

CASE(functions_of_a_downloader_that_ends_in_its_own_callback)
{
    std::promise<void> stopped;
    sdd::downloader_config config;
    config.callbacks = sdd::callback_options();
    config.callbacks->on_thread_stop = [&, alive = std::make_shared<int>(5)] {
        CHECK_EQUAL(*alive, 5);
        stopped.set_value();
    };
    auto downloader = std::make_unique<sdd::downloader>(config);
    sdd::download_request request;
    request.url = png_url();
    request.on_completed = [&](const sdd::result<sdd::loaded> &) { downloader.reset(); };
    CHECK(downloader->submit(request));
    stopped.get_future().get();
    stopped = {};
    sdd_downloader *released = sdd::downloader(config).release();
    CHECK_STATUS(sdd_downloader_destroy(released), SDD_OK);
    stopped.get_future().get();
    auto alive = std::make_shared<int>(0);
    config.callbacks->on_thread_start = [alive] {};
    config.network.emplace().address_filter = [alive](std::string_view, int32_t) { return true; };
    config.decode_threads = -7;
    CHECK_STATUS(sdd::downloader::create(config).status(), SDD_ERROR_INVALID_ARGUMENT);
    config = {};
    CHECK_EQUAL(alive.use_count(), 1); // what was refused has freed them
}

CASE(a_loader_asks_the_application)
{
    Thrown thrown;
    sdd::downloader downloader;
    auto alive = std::make_shared<int>(0);
    sdd::loader_config config;
    config.downloader = downloader.get();
    config.no_cache = true;
    config.should_download = [alive](std::string_view url) {
        if (url.find("throw") != std::string_view::npos) throw Own("asked");
        return url.find("refused") == std::string_view::npos;
    };
    config.should_block_failed_url = [alive](std::string_view, const sdd_failure &failure) -> sdd_block_choice {
        if (failure.http_status == 403) throw Own("block");
        return failure.http_status == 500 ? SDD_BLOCK : SDD_DO_NOT_BLOCK;
    };
    config.options_processor = [alive](sdd_load_request &request) {
        if (request.options == SDD_OPTION_RETRY_FAILED) request.options = SDD_OPTION_BYTES_ONLY;
    };
    {
        sdd::loader loader(config);
        config = {};
        CHECK_STATUS(loader.load(url_of("/ok?refused")).get().status(), SDD_ERROR_NOT_CACHED);
        CHECK_STATUS(loader.load(url_of("/ok?throw")).get().status(), SDD_ERROR_NOT_CACHED);
        CHECK_THROWN(thrown, "loader.should_download: asked");
        CHECK(!loader.load(url_of("/status/500")).get() && loader.is_blocked(url_of("/status/500")));
        CHECK(!loader.load(url_of("/status/404")).get() && !loader.is_blocked(url_of("/status/404")));
        CHECK(!loader.load(url_of("/status/403")).get() && loader.is_blocked(url_of("/status/403")));
        CHECK_THROWN(thrown, "loader.should_block_failed_url: block");
        CHECK(!loader.load(png_url(), SDD_OPTION_RETRY_FAILED).get().value().image);
        CHECK(loader.remove_all_failed_urls());
    }
    CHECK_STATUS(downloader.destroy(), SDD_OK);
    CHECK_EQUAL(alive.use_count(), 1);
}

} // namespace

int main() { return run_cases(); }
