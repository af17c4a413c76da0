// Who owns what: copies and moves of references and owners, objects that outlive those they came from, destroying
// downloaders and loaders with requests under way.
#include "check.hpp"

#include <type_traits>

namespace {

static_assert(std::is_nothrow_copy_constructible_v<sdd::image> && std::is_nothrow_move_constructible_v<sdd::bytes>);
static_assert(!std::is_copy_constructible_v<sdd::downloader> && std::is_nothrow_move_constructible_v<sdd::downloader>);
static_assert(!std::is_copy_constructible_v<sdd::loader> && std::is_nothrow_move_assignable_v<sdd::loader>);
static_assert(!std::is_copy_constructible_v<sdd::cache> && !std::is_copy_constructible_v<sdd::batch>);
static_assert(!std::is_copy_constructible_v<sdd::pending<sdd::loaded>>);
static_assert(std::is_nothrow_copy_constructible_v<sdd::error>);

int64_t images() { return sdd::process_statistics().value().images; }

sdd::loader_config uncached(const sdd::downloader &downloader)
{
    sdd::loader_config config;
    config.downloader = downloader.get();
    config.no_cache = true;
    return config;
}

CASE(references_are_counted)
{
    const int64_t before = images();
    {
        const uint8_t grey[4] = { 0, 85, 170, 255 };
        sdd::image one = sdd::image::create({ grey, 2, 2, 2, SDD_PIXEL_FORMAT_GREY8 }).value();
        CHECK_EQUAL(images(), before + 1);
        sdd::image two = one;
        CHECK(one == two && one.get() == two.get());
        sdd::image three = std::move(one);
        CHECK(!one && three == two); // NOLINT: a moved-from reference is empty
        CHECK_EQUAL(one.width(), 0);
        CHECK(one.pixels().empty());
        CHECK_STATUS(one.encode().status(), SDD_ERROR_INVALID_ARGUMENT);
        two = sdd::image();
        sdd::image &same = three;
        three = same;
        CHECK_EQUAL(three.pixels().at(1, 1)[0], 255);
        three = std::move(same);
        CHECK_EQUAL(three.width(), 2);
        CHECK_EQUAL(images(), before + 1);
        sdd_image *given_away = three.release();
        CHECK_EQUAL(images(), before + 1);
        sdd::image back(given_away, sdd::adopt);
        sdd::image lent(back.get(), sdd::retain);
        CHECK_EQUAL(images(), before + 1);
    }
    CHECK_EQUAL(images(), before);

    sdd::bytes bytes = sdd::bytes::copy_of("abc"), other = bytes;
    CHECK(bytes.text() == "abc" && other.data() == bytes.data());
    bytes = std::move(other);
    CHECK(other.size() == 0 && other.view().empty() && bytes.size() == 3);
}

CASE(a_moved_from_owner_is_dead)
{
    sdd::downloader one;
    sdd::downloader two = std::move(one);
    CHECK_STATUS(one.idle_wait(0).status(), SDD_ERROR_CLOSED); // and not the shared downloader
    CHECK_STATUS(one.download(png_url()).get().status(), SDD_ERROR_CLOSED);
    CHECK_STATUS(one.submit({}).status(), SDD_ERROR_CLOSED);
    CHECK_STATUS(one.statistics().status(), SDD_ERROR_CLOSED);
    CHECK_EQUAL(one.event_fd(), -1);
    CHECK(two.download(png_url()).get());
    one = std::move(two);
    CHECK(one.download(png_url()).get());
    CHECK_STATUS(two.cancel_all().status(), SDD_ERROR_CLOSED);
    CHECK_STATUS(one.destroy(), SDD_OK);
    CHECK_STATUS(one.cancel_all().status(), SDD_ERROR_CLOSED);
    CHECK_STATUS(one.destroy(), SDD_OK); // there is nothing left to destroy

    sdd::cache_config config;
    config.levels = SDD_CACHE_MEMORY;
    sdd::cache cache(config);
    sdd::cache moved = std::move(cache);
    CHECK_STATUS(cache.clear_wait().status(), SDD_ERROR_CLOSED);
    CHECK(moved.clear_wait());
    sdd::loader loader, taken = std::move(loader);
    CHECK_STATUS(loader.cancel_all().status(), SDD_ERROR_CLOSED);
    CHECK(taken.cancel_all());

    sdd_downloader *handle = sdd::downloader().release();
    CHECK_STATUS(sdd_downloader_cancel_all(handle), SDD_OK);
    sdd::downloader adopted(handle, sdd::adopt);
    CHECK(adopted.cancel_all());
}

CASE(a_shared_object_is_not_destroyed)
{
    {
        const sdd::downloader shared = sdd::downloader::shared();
        CHECK(shared.get() == nullptr);
    }
    CHECK(sdd::downloader::shared().download(png_url()).get());
    CHECK(sdd::downloader::shared().set_header("X-Test", "1"));
    CHECK(sdd::downloader::shared().header("x-test").value() == "1");
    CHECK(sdd::downloader::shared().remove_header("X-Test"));
    CHECK_STATUS(sdd::downloader::shared().header("X-Test").status(), SDD_ERROR_NOT_FOUND);
}

CASE(waiting_for_the_shared_downloader_by_both_names)
{
    sdd::downloader shared = sdd::downloader::shared(); // NULL
    sdd::loader_config config;
    config.downloader = sdd_downloader_shared();
    config.no_cache = true;
    sdd::loader loader(config);
    std::promise<sdd_status> by_null, by_handle;
    loader.load(png_url()).then([&](const auto &) {
        by_null.set_value(shared.download(held("by-null")).get().status());
    });
    CHECK_STATUS(by_null.get_future().get(), SDD_ERROR_WOULD_DEADLOCK);
    shared.download(png_url()).then([&](const auto &) {
        by_handle.set_value(loader.load(held("by-handle")).get().status());
    });
    CHECK_STATUS(by_handle.get_future().get(), SDD_ERROR_WOULD_DEADLOCK);
    CHECK(shared.idle_wait());
}

CASE(images_outlive_their_makers)
{
    sdd::loaded loaded;
    {
        sdd::downloader downloader;
        sdd::loader loader(uncached(downloader));
        loaded = loader.load(png_url()).get().value();
    }
    CHECK_EQUAL(loaded.image.pixels().row(12).size(), 19 * 4);
    CHECK(loaded.bytes.text() == fixture_of("png/rgb8.png"));
    CHECK(loaded.image.bytes() == loaded.bytes);
    CHECK(loaded.response.mime_type() == "image/png");
    CHECK(loaded.report->url == png_url() && loaded.report->metrics->total_us > 0);
    CHECK_TEXT(loaded.report->metrics->remote_address, "127.0.0.1");
    CHECK(loaded.report->image == loaded.image.get() && loaded.report->failure.http_status == 200);
    CHECK_TEXT(loaded.report->failure.message, "");
}

CASE(destroying_a_downloader_ends_its_requests)
{
    sdd::pending<sdd::loaded> waiting, other;
    int completions = 0;
    {
        sdd::downloader downloader;
        sdd::download_request request;
        request.url = held("ownership");
        request.on_completed = [&](const sdd::result<sdd::loaded> &outcome) {
            CHECK_STATUS(outcome.status(), SDD_ERROR_CANCELLED);
            completions++;
        };
        waiting = downloader.download(request);
        other = sdd::loader(uncached(downloader)).load(held("ownership")); // its loader ends at once
        wait_for_held("ownership");
        CHECK(!waiting.ready());
        CHECK_EQUAL(waiting.info().value().priority, SDD_PRIORITY_NORMAL);
        CHECK(waiting.url().value() == request.url);
    }
    CHECK_EQUAL(completions, 1); // no callback comes later
    const auto ended = waiting.get();
    CHECK_STATUS(ended.status(), SDD_ERROR_CANCELLED);
    CHECK_EQUAL(ended.error().error_class(), SDD_CLASS_CANCELLED);
    CHECK(ended.error().report()->url == held("ownership"));
    CHECK_STATUS(other.get().status(), SDD_ERROR_CANCELLED);
    CHECK_STATUS(waiting.cancel().status(), SDD_ERROR_NOT_FOUND);
    CHECK(order("/wait-idle") == 0);
}

CASE(a_downloader_may_end_in_its_own_callback)
{
    std::promise<sdd_status> destroyed;
    auto downloader = std::make_unique<sdd::downloader>();
    sdd::download_request request;
    request.url = png_url();
    request.on_completed = [&](const sdd::result<sdd::loaded> &) {
        const sdd_status status = downloader->destroy();
        downloader.reset();
        destroyed.set_value(status);
    };
    CHECK(downloader->submit(request));
    CHECK_STATUS(destroyed.get_future().get(), SDD_OK);
}

CASE(a_destroyed_pending_cancels)
{
    sdd::downloader downloader;
    std::promise<sdd_status> ended;
    sdd::download_request request;
    request.url = held("abandoned");
    request.on_completed = [&](const sdd::result<sdd::loaded> &outcome) { ended.set_value(outcome.status()); };
    {
        auto waiting = downloader.download(request);
        wait_for_held("abandoned");
        auto moved = std::move(waiting);
        CHECK(waiting.token() == 0 && waiting.ready());
        CHECK_STATUS(waiting.get().status(), SDD_ERROR_NOT_FOUND);
    }
    CHECK_STATUS(ended.get_future().get(), SDD_ERROR_CANCELLED);

    ended = {};
    const sdd_token token = downloader.download(request).detach(); // goes on by itself
    CHECK(token != 0);
    release("abandoned");
    CHECK_STATUS(ended.get_future().get(), SDD_OK);
}

CASE(a_constructor_throws_what_create_gives)
{
    sdd::downloader_config config;
    config.max_concurrent_downloads = -1;
    CHECK_STATUS(sdd::downloader::create(config).status(), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_RAISES(SDD_ERROR_INVALID_ARGUMENT, sdd::downloader made(config));
    CHECK(sdd::downloader::create(config).error().message().find("-1") != std::string::npos);
    sdd::cache_config nowhere;
    nowhere.directory = "/proc/nowhere";
    const auto cache = sdd::cache::create(nowhere);
    CHECK_STATUS(cache.status(), SDD_ERROR_CACHE);
    CHECK_EQUAL(cache.error().detail(), SDD_DETAIL_CACHE_DIRECTORY);
    CHECK_EQUAL(cache.error().error_class(), SDD_CLASS_SYSTEM);
    sdd::loader_config dead;
    dead.downloader = sdd::downloader().get();
    CHECK_RAISES(SDD_ERROR_CLOSED, sdd::loader made(dead));
    sdd::batch_config unequal;
    unequal.ids = { 1 };
    CHECK_RAISES(SDD_ERROR_INVALID_ARGUMENT, sdd::batch made(unequal));
}

} // namespace

int main() { return run_cases(); }
