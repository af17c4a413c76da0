// Requests under way: waiting, futures, then(), executors, cancelling, and what a pending does on the thread that
// delivers.
#include "check.hpp"

#include <deque>

namespace {

CASE(waiting_for_the_end)
{
    sdd::downloader downloader;
    auto waiting = downloader.download(held("waiting"));
    wait_for_held("waiting");
    CHECK(!waiting.ready() && !waiting.wait_for(std::chrono::milliseconds(1)));
    CHECK_EQUAL(waiting.info().value().state, SDD_STATE_RUNNING);
    CHECK_STATUS(waiting.response().status(), SDD_ERROR_NOT_FOUND);
    CHECK(waiting.set_priority(SDD_PRIORITY_HIGH));
    CHECK_STATUS(waiting.set_priority(99).status(), SDD_ERROR_INVALID_ARGUMENT);
    release("waiting");
    CHECK(waiting.wait_for(std::chrono::minutes(1)) && waiting.ready());
    CHECK(waiting.get().value().image == waiting.get().value().image); // any number of times
}

CASE(several_threads_wait)
{
    sdd::downloader downloader;
    const auto waiting = downloader.download(held("threads"));
    std::atomic<int> pictures{ 0 };
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++)
        threads.emplace_back([&] { pictures += waiting.get() ? 1 : 0; });
    release("threads");
    for (auto &thread : threads) thread.join();
    CHECK_EQUAL(pictures, 4);
}

CASE(cancelling)
{
    sdd::downloader downloader;
    const auto waiting = downloader.download(held("cancelled"));
    const auto other = downloader.download(held("cancelled")); // shares the transfer
    wait_for_held("cancelled");
    CHECK(waiting.cancel());
    CHECK_STATUS(waiting.get().status(), SDD_ERROR_CANCELLED);
    CHECK(!other.ready());
    release("cancelled");
    CHECK(other.get());
    CHECK_STATUS(other.cancel().status(), SDD_ERROR_NOT_FOUND);
}

CASE(futures)
{
    sdd::downloader downloader;
    std::future<sdd::result<sdd::loaded>> first = downloader.download(png_url()).future();
    auto bad = downloader.download(url_of("/status/404")).future();
    auto refused = downloader.download("").future();
    CHECK_EQUAL(first.get().value().image.width(), 19);
    CHECK_RAISES(SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE, (void)bad.get().value());
    CHECK_RAISES(SDD_ERROR_INVALID_URL, (void)refused.get().value());
    CHECK_STATUS(sdd::pending<sdd::loaded>().future().get().status(), SDD_ERROR_NOT_FOUND);
    auto dropped = downloader.download(held("dropped")).future();
    CHECK_STATUS(downloader.destroy(), SDD_OK);
    CHECK_STATUS(dropped.get().status(), SDD_ERROR_CANCELLED);
}

CASE(a_function_at_the_end)
{
    sdd::downloader downloader;
    std::promise<std::pair<int, std::thread::id>> called;
    const sdd_token token = downloader.download(held("then")).then([&](sdd::result<sdd::loaded> outcome) {
        called.set_value({ outcome.value().image.width(), std::this_thread::get_id() });
    });
    CHECK(token != 0);
    CHECK_STATUS(sdd_set_priority(token, SDD_PRIORITY_LOW), SDD_OK);
    release("then");
    const auto [width, thread] = called.get_future().get();
    CHECK(width == 19 && thread != std::this_thread::get_id());

    auto ended = downloader.download(png_url());
    CHECK(ended.get());
    int calls = 0;
    auto only_moved = std::make_unique<int>(1);
    std::move(ended).then([&calls, only_moved = std::move(only_moved)](const auto &) { calls += *only_moved; });
    CHECK_EQUAL(calls, 1); // at once
    std::move(ended).then([&](const auto &) { calls = 100; });
    CHECK_EQUAL(calls, 1);

    // A cancelled one still calls its function, once.
    std::promise<sdd_status> cancelled;
    const sdd_token other =
        downloader.download(held("never")).then([&](const auto &outcome) { cancelled.set_value(outcome.status()); });
    CHECK_STATUS(sdd_cancel(other), SDD_OK);
    CHECK_STATUS(cancelled.get_future().get(), SDD_ERROR_CANCELLED);
}

// A loop of the application, whose jobs run when it says so.
class Loop {
public:
    sdd::executor executor()
    {
        return [this](std::function<void()> job) {
            const std::lock_guard<std::mutex> lock(mutex);
            jobs.push_back(std::move(job));
            posted.notify_all();
        };
    }
    void run_one()
    {
        std::unique_lock<std::mutex> lock(mutex);
        posted.wait(lock, [&] { return !jobs.empty(); });
        const auto job = std::move(jobs.front());
        jobs.pop_front();
        lock.unlock();
        job();
    }

private:
    std::mutex mutex;
    std::condition_variable posted;
    std::deque<std::function<void()>> jobs;
};

CASE(an_executor_chooses_the_thread)
{
    sdd::downloader downloader;
    Loop loop;
    std::thread::id ran_on;
    downloader.download(png_url()).on(loop.executor()).then([&](sdd::result<sdd::loaded>) {
        ran_on = std::this_thread::get_id();
    });
    loop.run_one();
    CHECK(ran_on == std::this_thread::get_id());

    auto ended = downloader.download(png_url());
    CHECK(ended.get());
    int calls = 0;
    std::move(ended.on(loop.executor())).then([&](const auto &) { calls++; });
    CHECK_EQUAL(calls, 0);
    loop.run_one();
    CHECK_EQUAL(calls, 1);
}

CASE(an_executor_that_throws)
{
    Thrown thrown;
    sdd::downloader downloader;
    std::promise<void> called;
    downloader.download(png_url())
        .on([](const std::function<void()> &) { throw std::runtime_error("no loop"); })
        .then([&](sdd::result<sdd::loaded> outcome) {
            CHECK(outcome.has_value());
            called.set_value();
        });
    called.get_future().get();
    CHECK_THROWN(thrown, "executor: no loop");
    downloader.download(png_url()).then([](const auto &) { throw std::runtime_error("later"); });
    CHECK(downloader.idle_wait());
    CHECK_THROWN(thrown, "pending.then: later");
}

CASE(waiting_on_the_thread_that_delivers)
{
    sdd::downloader downloader, other;
    std::promise<std::vector<sdd_status>> waited;
    std::promise<sdd::pending<sdd::loaded>> second;
    sdd::download_request request;
    request.url = png_url();
    request.on_completed = [&](const sdd::result<sdd::loaded> &) {
        auto blocked = downloader.download(held("deadlock"));
        CHECK(!blocked.wait_for(std::chrono::minutes(1)));
        waited.set_value({ blocked.get().status(), other.download(png_url()).get().status(),
                           downloader.submit_wait(png_url()).status() });
        second.set_value(std::move(blocked));
    };
    auto first = downloader.download(request);
    const auto statuses = waited.get_future().get();
    CHECK_STATUS(statuses[0], SDD_ERROR_WOULD_DEADLOCK);
    CHECK_STATUS(statuses[1], SDD_OK); // another downloader delivers that one
    CHECK_STATUS(statuses[2], SDD_OK); // delivers no event
    release("deadlock");
    CHECK(second.get_future().get().get()); // on another thread it is a request like others
    CHECK(first.get());
}

CASE(waiting_inside_nested_deliveries)
{
    sdd::downloader_config config;
    config.delivery = SDD_DELIVERY_APPLICATION;
    sdd::downloader outer(config), inner(config);
    const auto blocked = outer.download(held("nested"));
    std::optional<sdd_status> waited;
    outer.download(png_url()).then([&](const auto &) {
        inner.download(png_url()).then([&](const auto &) { waited = blocked.get().status(); });
        CHECK(inner.idle_wait());
    });
    while (!waited) CHECK(outer.wait());
    CHECK_STATUS(*waited, SDD_ERROR_WOULD_DEADLOCK);
}

// Waits for a request when it is destroyed.
struct WaitsAtItsEnd {
    sdd::downloader &downloader;
    std::vector<sdd_status> &waited;

    ~WaitsAtItsEnd() { waited.push_back(downloader.download(held("at-its-end")).get().status()); }
};

CASE(waiting_where_a_callback_is_destroyed)
{
    const auto image = sdd::image::decode(sdd::as_bytes(fixture_of("png/rgb8.png"))).value();
    sdd::downloader_config config;
    config.delivery = SDD_DELIVERY_APPLICATION;
    sdd::downloader downloader(config);
    sdd::loader_config loads;
    loads.downloader = downloader.get();
    sdd::loader loader(loads);
    std::vector<sdd_status> waited;
    const auto capture = [&] {
        return [kept = std::shared_ptr<WaitsAtItsEnd>(new WaitsAtItsEnd{ downloader, waited })](auto &&...) {};
    };
    sdd::download_request request;
    request.url = png_url();
    request.on_completed = capture();
    sdd::prefetch_list list;
    list.urls = { png_url() };
    list.on_each = capture();
    (void)downloader.download(request).detach();
    (void)loader.prefetch(list).detach();
    (void)downloader.encode(image).on(capture()).detach();
    request.on_completed = nullptr, list.on_each = nullptr; // the requests have the last ones
    CHECK(waited.empty() && downloader.idle_wait());
    CHECK(waited == std::vector<sdd_status>(3, SDD_ERROR_WOULD_DEADLOCK));
}

CASE(delivery_in_the_application)
{
    sdd::downloader_config config;
    config.delivery = SDD_DELIVERY_APPLICATION;
    sdd::downloader downloader(config);
    CHECK(downloader.event_fd() >= 0);
    CHECK_EQUAL(downloader.dispatch().value(), 0);
    CHECK_STATUS(downloader.wait(0).status(), SDD_ERROR_TIMEOUT);
    std::thread::id ran_on;
    auto waiting = downloader.download(png_url());
    auto other = downloader.download(jpeg_url()).then([&](const auto &) { ran_on = std::this_thread::get_id(); });
    CHECK(other != 0);
    while (!waiting.ready()) CHECK(downloader.wait());
    CHECK(waiting.get() && downloader.idle_wait());
    CHECK(ran_on == std::this_thread::get_id());

    // drain() takes events of requests without callbacks; a pending cannot get its own then.
    auto taken = downloader.download(png_url());
    sdd::download_request request;
    request.url = png_url();
    const sdd_token token = downloader.submit(request).value();
    int images = 0, mine = 0;
    for (int ends = 0; ends < 2;) {
        for (const sdd::event &event : downloader.drain(64, -1).value()) { // waits for an event
            ends += event.kind == SDD_EVENT_COMPLETED;
            images += event.outcome()->image.width() == 19;
            mine += event.token == token && sdd_image_width(event.result->image) == 19;
        }
    }
    CHECK(images == 2 && mine == 1);
    CHECK(downloader.drain().value().empty());
    CHECK_STATUS(downloader.drain(1, 1).status(), SDD_ERROR_TIMEOUT);
    CHECK_STATUS(sdd::event().outcome().status(), SDD_ERROR_NOT_FOUND);
    CHECK_STATUS(taken.get().status(), SDD_ERROR_WRONG_DELIVERY);
}

CASE(encoding_without_waiting)
{
    sdd::downloader downloader;
    const auto loaded = downloader.download(png_url()).get().value();
    sdd::encode_options options;
    options.format = SDD_IMAGE_FORMAT_JPEG;
    const sdd::bytes jpeg = downloader.encode(loaded.image, options).get().value();
    CHECK_EQUAL(sdd::image::sniff(jpeg.view()), SDD_IMAGE_FORMAT_JPEG);
    options.quality = 1000;
    CHECK_STATUS(downloader.encode(loaded.image, options).get().status(), SDD_ERROR_INVALID_ARGUMENT);
}

CASE(many_requests)
{
    sdd::downloader downloader;
    std::vector<sdd::pending<sdd::loaded>> all;
    std::atomic<int> called{ 0 };
    const int count = 300;
    for (int i = 0; i < count; i++) {
        auto each = downloader.download(url_of("/ok?file=png/rgb8.png&n=" + std::to_string(i % 50)));
        if (i % 3 == 0)
            (void)std::move(each).then([&](const auto &outcome) { called += outcome ? 1 : 0; });
        else if (i % 3 == 1)
            all.push_back(std::move(each)); // the others are cancelled
    }
    int pictures = 0;
    for (const auto &each : all) pictures += each.get() ? 1 : 0;
    CHECK(downloader.idle_wait());
    CHECK(pictures == count / 3 && called == count / 3);
}

} // namespace

int main() { return run_cases(); }
