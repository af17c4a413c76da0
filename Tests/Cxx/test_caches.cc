// Caches: entries, keys, files, and levels that the application keeps itself.
#include "check.hpp"

#include <map>
#include <unistd.h>

namespace {

std::string folder(const char *name) { return std::string(setting("SDD_TEST_FOLDER")) + "/" + name; }

sdd::cache_config in_folder(const char *name)
{
    sdd::cache_config config;
    config.directory = folder(name);
    return config;
}

sdd::image picture() { return sdd::image::decode(sdd::as_bytes(fixture_of("png/rgb8.png"))).value(); }

CASE(entries_come_and_go)
{
    sdd::cache cache(in_folder("entries"));
    sdd::cache_item item;
    item.key = "one", item.image = picture(), item.extended = sdd::bytes::copy_of("mine");
    CHECK(cache.put_wait(item));
    item.key = "two";
    const auto stored = cache.put(item);
    CHECK(stored.get());
    CHECK_EQUAL(cache.contains_wait("one"), SDD_CACHE_ALL);
    CHECK(cache.memory_image("one") == item.image && !cache.memory_image("none"));

    sdd::cache_query_options query;
    query.key = "one", query.wants = SDD_WANT_BOTH;
    const auto found = cache.query_wait(query).value();
    CHECK(found.image == item.image && found.bytes.text() == fixture_of("png/rgb8.png"));
    CHECK(found.extended.text() == "mine" && found.origin == SDD_ORIGIN_MEMORY);
    query.decode = sdd::decode_options::to_size(5, 5);
    const auto small = cache.query(query).get().value();
    CHECK(small.image.width() == 5 && small.report->url == std::string("one"));
    query.key = "none";
    CHECK_STATUS(cache.query_wait(query).status(), SDD_ERROR_NOT_CACHED);
    CHECK_STATUS(cache.query(query).get().status(), SDD_ERROR_NOT_CACHED);
    CHECK_STATUS(cache.put_wait({}).status(), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(cache.put({}).get().status(), SDD_ERROR_INVALID_ARGUMENT);

    CHECK(cache.trim_memory(SDD_TRIM_ALL) && cache.trim_disk_wait() && cache.flush_wait());
    CHECK(cache.set_memory_limits(1 << 20, 10) && cache.set_disk_limits(1 << 20, 1000000));
    CHECK(cache.statistics_wait().value().entries_written >= 2);
    CHECK(cache.remove_wait("one") && cache.contains_wait("one") == 0);
    CHECK(cache.clear_wait() && cache.contains_wait("two") == 0);
}

CASE(keys_and_files)
{
    sdd::cache_config config = in_folder("keys");
    config.ignored_query_parameters = "token";
    auto alive = std::make_shared<int>(0);
    Thrown thrown;
    config.key_filter = [alive](std::string_view url) {
        if (url == "https://h/throw") throw std::runtime_error("no key");
        return url == "https://h/same" ? std::string() : "key of " + std::string(url);
    };
    config.serializer = [alive](const sdd::image &image, const sdd::bytes &bytes, std::string_view key) {
        if (key == "none") return sdd::bytes();
        if (key == "throw") throw std::runtime_error("not written");
        CHECK(image && bytes);
        return sdd::bytes::copy_of("(" + std::string(bytes.text()) + ")");
    };
    {
        sdd::cache cache(config);
        config = {};
        CHECK(cache.key("https://h/a.jpg?token=1").value() == "key of https://h/a.jpg");
        CHECK(cache.key("https://h/same").value() == "https://h/same");
        CHECK(cache.key("https://h/throw").value() == "https://h/throw");
        CHECK_THROWN(thrown, "cache.key_filter: no key");
        const std::string named = cache.key("https://h/same", sdd::decode_options::to_size(5, 5),
                                            { sdd::transform::rotate(90) }).value();
        CHECK(named.find("rotate(90)") != std::string::npos && named.find("Thumbnail") != std::string::npos);

        sdd::cache_item item;
        item.key = "one", item.image = picture(), item.bytes = sdd::bytes::copy_of("body");
        CHECK(cache.put_wait(item));
        sdd::entry_file file = cache.open_wait("one").value(), moved = std::move(file);
        CHECK(file.fd() == -1 && moved.size() == 6);
        char body[6];
        CHECK(read(moved.fd(), body, 6) == 6 && std::string(body, 6) == "(body)");
        CHECK(cache.path("one").value().find(folder("keys")) == 0);
        CHECK_STATUS(cache.open_wait("none").status(), SDD_ERROR_NOT_CACHED);
        for (const char *key : { "none", "throw" }) {
            item.key = key;
            (void)cache.put_wait(item);
            CHECK_EQUAL(cache.contains_wait(key, SDD_CACHE_DISK), 0);
        }
        CHECK_THROWN(thrown, "cache.serializer: not written");
    }
    CHECK_EQUAL(alive.use_count(), 1);
    sdd::cache cache(in_folder("merged"));
    CHECK(cache.merge_wait(folder("keys")).value() == 1 && cache.contains_wait("one", SDD_CACHE_DISK));
    CHECK_STATUS(cache.merge_wait(folder("nowhere")).status(), SDD_ERROR_CACHE);
    std::string keys;
    CHECK_STATUS(cache.list_wait([&](const sdd_cache_entry &entry) {
        keys += entry.key;
        return SDD_LIST_REMOVE;
    }, SDD_LIST_CHECK).status(), SDD_OK);
    CHECK(keys == "one" && cache.contains_wait("one", SDD_CACHE_DISK) == 0);
    CHECK_STATUS(cache.list_wait([](const sdd_cache_entry &) { return SDD_LIST_NEXT; }, 2).status(),
                 SDD_ERROR_INVALID_ARGUMENT);
    sdd::cache_item again;
    again.key = "again", again.bytes = sdd::bytes::copy_of("text");
    CHECK(cache.put_wait(again));
    std::string thrown_out;
    try {
        (void)cache.list_wait(
            [](const sdd_cache_entry &) -> sdd_list_step { throw std::runtime_error("out of a list"); });
    } catch (const std::runtime_error &error) {
        thrown_out = error.what();
    }
    CHECK(thrown_out == "out of a list");
}

class Memory : public sdd::memory_store {
public:
    sdd::image get(const std::string &key) override
    {
        const std::lock_guard<std::mutex> lock(mutex);
        const auto found = images.find(key);
        return found == images.end() ? sdd::image() : found->second;
    }
    void put(const std::string &key, sdd::image picture, int64_t cost) override
    {
        CHECK(cost > 0);
        if (key == "throw") throw std::runtime_error("full");
        const std::lock_guard<std::mutex> lock(mutex);
        images[key] = std::move(picture);
    }
    void remove(const std::string &key) override
    {
        const std::lock_guard<std::mutex> lock(mutex);
        images.erase(key);
    }
    void clear() override
    {
        const std::lock_guard<std::mutex> lock(mutex);
        images.clear();
    }
    void trim(sdd_trim_level level) override { trimmed = level; }

    std::mutex mutex;
    std::map<std::string, sdd::image> images;
    sdd_trim_level trimmed = 0;
};

class Entries : public sdd::entry_store {
public:
    sdd_status get(const std::string &key, sdd::bytes &body, sdd::bytes &extra) override
    {
        const std::lock_guard<std::mutex> lock(mutex);
        const auto found = entries.find(key);
        if (found == entries.end()) return SDD_ERROR_NOT_FOUND;
        body = found->second.first;
        extra = found->second.second;
        return SDD_OK;
    }
    sdd_status put(const std::string &key, sdd::byte_view body, sdd::byte_view extra) override
    {
        if (key == "throw") throw std::runtime_error("no database");
        const std::lock_guard<std::mutex> lock(mutex);
        entries[key] = { sdd::bytes::copy_of(body), sdd::bytes::copy_of(extra) };
        return SDD_OK;
    }
    sdd_status remove(const std::string &key) override
    {
        const std::lock_guard<std::mutex> lock(mutex);
        return entries.erase(key) ? sdd_status{ SDD_OK } : sdd_status{ SDD_ERROR_NOT_FOUND };
    }
    sdd_status clear() override
    {
        const std::lock_guard<std::mutex> lock(mutex);
        entries.clear();
        return SDD_OK;
    }
    sdd_status usage(int64_t &bytes, int64_t &count) override
    {
        const std::lock_guard<std::mutex> lock(mutex);
        bytes = 1000, count = static_cast<int64_t>(entries.size());
        return SDD_OK;
    }

    std::mutex mutex;
    std::map<std::string, std::pair<sdd::bytes, sdd::bytes>> entries;
};

CASE(levels_of_the_application)
{
    Thrown thrown;
    auto memory = std::make_shared<Memory>();
    auto entries = std::make_shared<Entries>();
    {
        sdd::cache_config config = in_folder("own");
        config.memory_store = memory;
        config.entry_store = entries;
        sdd::downloader downloader;
        sdd::cache cache(config);
        config = {};
        sdd::loader_config loading;
        loading.downloader = downloader.get();
        loading.cache = cache.get();
        sdd::loader loader(loading);
        CHECK(loader.load(png_url(), SDD_OPTION_WAIT_STORE_CACHE).get());
        CHECK(memory->images.count(png_url()) == 1 && entries->entries.count(png_url()) == 1);
        CHECK_EQUAL(loader.load(png_url()).get().value().origin, SDD_ORIGIN_MEMORY);
        memory->clear();
        CHECK_EQUAL(loader.load(png_url()).get().value().origin, SDD_ORIGIN_DISK);
        CHECK_EQUAL(cache.statistics_wait().value().disk_count, 1);
        CHECK(cache.trim_memory(SDD_TRIM_HALF) && memory->trimmed == SDD_TRIM_HALF);

        sdd::cache_item item;
        item.key = "throw", item.image = picture();
        CHECK_STATUS(cache.put_wait(item).status(), SDD_ERROR_CACHE);
        CHECK_THROWN(thrown, "memory_store.put: full", "entry_store.put: no database");
        CHECK(cache.remove_wait(png_url()));
        CHECK(memory->images.empty() && entries->entries.empty());
        CHECK(downloader.idle_wait());
    }
    CHECK(memory.use_count() == 1 && entries.use_count() == 1);

    sdd::cache_config refused;
    refused.memory_store = memory;
    refused.max_memory_count = -7;
    CHECK_STATUS(sdd::cache::create(refused).status(), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_EQUAL(memory.use_count(), 2); // that of `refused`
}

} // namespace

int main() { return run_cases(); }
