// Batches and prefetch lists.
#include "check.hpp"

namespace {

std::string numbered(int number) { return url_of("/ok?file=png/rgb8.png&n=" + std::to_string(number)); }

CASE(every_item_is_taken_once)
{
    sdd::downloader downloader;
    sdd::batch_config config;
    config.downloader = downloader.get();
    config.urls = { numbered(1), url_of("/status/404"), numbered(2), "no URL" };
    config.ids = { 10, 11, 12, 13 };
    config.order = SDD_BATCH_ORDERED;
    config.responses = true;
    sdd::batch batch(config), moved = std::move(batch);
    CHECK_STATUS(batch.wait().status(), SDD_ERROR_CLOSED);
    std::vector<sdd::batch_item> items;
    while (true) {
        auto taken = moved.wait(3).value();
        if (taken.empty()) break;
        for (auto &item : taken) items.push_back(std::move(item));
    }
    CHECK_EQUAL(items.size(), 4);
    CHECK(items[0].id == 10 && items[0].result->image.width() == 19 && items[0].result->response.status() == 200);
    CHECK(items[0].result->report->metrics->total_us > 0);
    const sdd::error &missing = items[1].result.error();
    CHECK(missing.http_status() == 404 && missing.error_class() == SDD_CLASS_RESPONSE && !missing.message().empty());
    CHECK_EQUAL(sdd_response_status(missing.report()->response), 404);
    CHECK(missing.report()->image == nullptr);
    CHECK_EQUAL(items[2].index, 2);
    CHECK_EQUAL(items[3].result.error().detail(), SDD_DETAIL_URL_MALFORMED);
    CHECK_EQUAL(moved.statistics().value().failed, 2);
    int64_t outcomes = 0;
    for (size_t kind = 0; kind < 3; kind++) outcomes += moved.outcome(kind).value().items;
    CHECK_EQUAL(outcomes, 4);
    CHECK_STATUS(moved.outcome(9).status(), SDD_ERROR_NOT_FOUND);
    CHECK(moved.host(0).value().items > 0);
    CHECK(moved.event_fd() >= 0);
}

CASE(a_function_gives_the_items)
{
    sdd::downloader downloader;
    int given = 0;
    sdd::batch_config config;
    config.downloader = downloader.get();
    config.look_ahead = 2;
    config.next = [&]() -> std::optional<sdd::batch_source> {
        if (given == 5) return std::nullopt;
        given++;
        return sdd::batch_source{ numbered(given), static_cast<uint64_t>(given * 100) };
    };
    sdd::batch batch(config);
    uint64_t ids = 0;
    for (auto taken = batch.wait().value(); !taken.empty(); taken = batch.wait().value())
        for (const auto &item : taken) ids += item.result ? item.id : 0;
    CHECK_EQUAL(ids, 1500);
}

CASE(a_function_that_throws)
{
    sdd::downloader downloader;
    int given = 0;
    sdd::batch_config config;
    config.downloader = downloader.get();
    config.look_ahead = 1;
    config.next = [&]() -> std::optional<sdd::batch_source> {
        if (++given == 3) throw std::runtime_error("no more");
        return sdd::batch_source{ numbered(given), 0 };
    };
    sdd::batch batch(config);
    int pictures = 0, failures = 0;
    for (int calls = 0; calls < 10; calls++) {
        const auto taken = batch.wait();
        if (!taken) {
            failures++;
            std::string said;
            try {
                (void)taken.value();
            } catch (const std::runtime_error &error) {
                said = error.what();
            }
            CHECK(said == "no more");
            continue;
        }
        if (taken->empty()) break;
        for (const auto &item : *taken) pictures += item.result ? 1 : 0;
    }
    CHECK(failures == 1 && pictures == 2); // nothing that was under way is lost

    config.next = []() -> std::optional<sdd::batch_source> { throw std::runtime_error("none"); };
    CHECK_STATUS(sdd::batch::create(config).status(), SDD_ERROR_CANCELLED);
    CHECK(sdd::batch::create(config).error().cause() != nullptr);
}

CASE(transfer_options_of_many_urls)
{
    sdd::downloader downloader;
    auto alive = std::make_shared<int>(0);
    sdd::transfer_options transfer;
    transfer.accepted_status_codes = "200-299,404";
    transfer.modifiers = sdd::modifiers({ [alive](sdd::draft &) { return true; }, {}, {} });
    {
        sdd::batch_config config;
        config.downloader = downloader.get();
        config.urls = { url_of("/status/404") };
        config.options = SDD_OPTION_BYTES_ONLY;
        config.priority = SDD_PRIORITY_HIGH;
        config.transfer = transfer;
        sdd::batch batch(config);
        CHECK(batch.wait().value().at(0).result);
        config.look_ahead = -7;
        CHECK_STATUS(sdd::batch::create(config).status(), SDD_ERROR_INVALID_ARGUMENT);

        sdd::loader_config loading;
        loading.downloader = downloader.get();
        loading.no_cache = true;
        sdd::loader loader(loading);
        sdd::prefetch_list list;
        list.urls = config.urls;
        list.to = SDD_PREFETCH_DISK;
        list.priority = SDD_PRIORITY_HIGH;
        list.transfer = transfer;
        CHECK_EQUAL(loader.prefetch(list).get().value().skipped, 0);
        list.priority = 99;
        CHECK_STATUS(loader.prefetch(list).get().status(), SDD_ERROR_INVALID_ARGUMENT);
        transfer = {};
    }
    CHECK_STATUS(downloader.destroy(), SDD_OK);
    CHECK_EQUAL(alive.use_count(), 1); // what was refused has freed them, too
}

CASE(a_tensor)
{
    sdd::downloader downloader;
    std::vector<uint8_t> memory(3 * 8 * 8 * 3, 77);
    sdd::batch_config config;
    config.downloader = downloader.get();
    config.urls = { numbered(1), url_of("/status/404"), jpeg_url() };
    config.tensor = sdd::tensor();
    config.tensor->pixels = memory.data();
    config.tensor->slot_count = 3;
    config.tensor->width = config.tensor->height = 8;
    sdd::batch batch(config);
    size_t ended = 0;
    for (auto taken = batch.wait().value(); !taken.empty(); taken = batch.wait().value()) {
        for (const auto &item : taken) {
            CHECK(item.slot == item.index && (!item.result || (!item.result->image && item.width == 8)));
            ended++;
        }
    }
    CHECK_EQUAL(ended, 3);
    CHECK(memory[192] == 0 && memory[383] == 0); // the one that failed
    CHECK_STATUS(batch.release_slot(0).status(), SDD_ERROR_NOT_FOUND);
}

CASE(a_tensor_in_srgb_or_as_stored)
{
    std::vector<uint8_t> memory(8 * 8 * 3), usual(memory.size());
    for (const sdd_colour colour : { SDD_COLOUR_DEFAULT, SDD_COLOUR_AS_STORED, SDD_COLOUR_SRGB }) {
        sdd::downloader downloader;
        sdd::batch_config config;
        config.downloader = downloader.get();
        config.urls = { url_of("/file/colour/display-p3.jpg") };
        config.tensor = sdd::tensor();
        config.tensor->pixels = memory.data();
        config.tensor->slot_count = 1;
        config.tensor->width = config.tensor->height = 8;
        config.tensor->colour = colour;
        sdd::batch batch(config);
        const auto taken = batch.wait().value();
        CHECK(taken.at(0).colour_kind == SDD_COLOUR_KIND_MATRIX && taken[0].is_converted == (colour == SDD_COLOUR_SRGB));
        if (colour == SDD_COLOUR_DEFAULT) usual = memory;
        CHECK((memory == usual) == (colour != SDD_COLOUR_SRGB));
    }
}

CASE(a_batch_that_is_cancelled)
{
    sdd::downloader downloader;
    sdd::batch_config config;
    config.downloader = downloader.get();
    config.urls = { held("batch") };
    sdd::batch batch(config);
    CHECK_STATUS(batch.wait(1, 0).status(), SDD_ERROR_TIMEOUT);
    CHECK(batch.cancel());
    CHECK_STATUS(batch.wait().value().at(0).result.status(), SDD_ERROR_CANCELLED);
    sdd::batch left(config);
    left = std::move(batch); // cancels the one that it had
    CHECK(left.wait().value().empty());
}

CASE(prefetching)
{
    sdd::downloader downloader;
    sdd::cache_config memory;
    memory.levels = SDD_CACHE_MEMORY;
    sdd::cache cache(memory);
    sdd::loader_config config;
    config.downloader = downloader.get();
    config.cache = cache.get();
    sdd::loader loader(config);
    sdd::prefetch_list list;
    list.urls = { numbered(21), url_of("/status/404"), numbered(22) };
    std::vector<size_t> each;
    size_t finished = 0;
    list.on_each = [&](size_t index, const sdd::result<sdd::loaded> &outcome) {
        CHECK(outcome.has_value() == (index != 1));
        each.push_back(index);
    };
    list.on_progress = [&](size_t ended, size_t, size_t total) {
        CHECK_EQUAL(total, 3);
        finished = ended;
    };
    const auto report = loader.prefetch(list).get().value();
    CHECK(report.total == 3 && report.finished == 3 && report.skipped == 1 && report.outcomes.size() == 3);
    CHECK_EQUAL(report.outcomes[1].error->http_status(), 404);
    CHECK(!report.outcomes[0].error && report.outcomes[0].origin == SDD_ORIGIN_NETWORK);
    CHECK(each.size() == 3 && finished == 3);
    CHECK_EQUAL(loader.load(numbered(22)).get().value().origin, SDD_ORIGIN_MEMORY);

    list = {};
    list.urls = { numbered(23), held("prefetch") };
    list.on_each = [](size_t, const auto &) { throw std::runtime_error("stop"); };
    const auto stopped = loader.prefetch(list).get();
    CHECK(stopped.status() == SDD_ERROR_CANCELLED && stopped.error().cause());
    list.on_each = nullptr;
    list.urls = { held("prefetch") };
    {
        auto waiting = loader.prefetch(list);
        CHECK(loader.set_max_concurrent_prefetches(1));
        CHECK(waiting.set_priority(SDD_PRIORITY_LOW));
        CHECK(waiting.cancel());
        CHECK_STATUS(waiting.get().status(), SDD_ERROR_CANCELLED);
    }
    CHECK(loader.prefetch({}).get().value().outcomes.empty());
}

} // namespace

int main() { return run_cases(); }
