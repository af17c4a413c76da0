// A process that ends with requests under way, and the child of a fork.
//
// Each case runs in a process of its own, forked before the library is used for the first time.
#include "check.hpp"

#include <future>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace {

struct Busy { // a downloader whose slots are taken by requests that never end
    Busy()
    {
        for (int number = 0; number < 10; number++)
            requests.push_back(downloader.download(url_of("/hold/busy-" + std::to_string(number))));
        wait_for_held("busy-0");
    }
    sdd::downloader downloader;
    std::vector<sdd::pending<sdd::loaded>> requests;
};

void main_returns() { static const Busy busy; }

void nothing_is_destroyed()
{
    static const Busy *volatile kept = new Busy;
    (void)kept;
}

void exit_is_called()
{
    const Busy busy; // not destroyed by exit()
    exit(0);
}

void exit_in_a_callback()
{
    const Busy busy;
    sdd::downloader own;
    own.download(png_url()).then([](const sdd::result<sdd::loaded> &) { exit(0); });
    for (;;) pause();
}

void exit_with_a_batch()
{
    static std::vector<uint8_t> pixels(10 * 4 * 4 * 3);
    static sdd::downloader downloader;
    sdd::batch_config config;
    config.downloader = downloader.get();
    for (int number = 0; number < 10; number++) config.urls.push_back(held("batch-" + std::to_string(number)));
    sdd::tensor tensor;
    tensor.pixels = pixels.data();
    tensor.slot_count = 10;
    tensor.width = tensor.height = 4;
    config.tensor = tensor;
    static sdd::batch batch(config);
    CHECK_STATUS(batch.wait(1, 10).status(), SDD_ERROR_TIMEOUT);
}

void the_child_of_a_fork()
{
    sdd::downloader_config patient; // a child with sanitizers may take long, while the parent's request is held
    patient.limits.emplace().download_timeout_ms = 600000;
    sdd::downloader parent(patient);
    sdd::loader_config config;
    config.downloader = parent.get();
    config.no_cache = true;
    sdd::loader loader(config);
    const sdd::loaded before = parent.download(png_url()).get().value();
    auto request = parent.download(held("parent"));
    wait_for_held("parent");
    std::promise<void> is_waiting;
    std::thread waiting([&] {
        is_waiting.set_value();
        CHECK_EQUAL(request.get().value().image.width(), 19);
    });
    // A thread that starts may hold locks of the address sanitizer, which a fork would leave locked in the child.
    is_waiting.get_future().wait();
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        alarm(60);
        CHECK(request.ready() && request.wait_for(std::chrono::milliseconds(60000)));
        CHECK_STATUS(request.get().status(), SDD_ERROR_FORKED);
        CHECK_STATUS(request.cancel().status(), SDD_ERROR_NOT_FOUND);
        int called = 0;
        std::move(request).then([&](const sdd::result<sdd::loaded> &outcome) {
            called++;
            CHECK_STATUS(outcome.status(), SDD_ERROR_FORKED);
        });
        CHECK_EQUAL(called, 1);
        CHECK_STATUS(parent.download(png_url()).get().status(), SDD_ERROR_FORKED);
        CHECK_STATUS(loader.load(png_url()).get().status(), SDD_ERROR_FORKED);
        CHECK_STATUS(loader.destroy(), SDD_ERROR_FORKED);
        CHECK_EQUAL(before.image.width(), 19);
        sdd::downloader own;
        CHECK_EQUAL(own.download(png_url()).get().value().image.height(), 13);
        own.destroy();
        _exit(0);
    }
    int status = -1;
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK_EQUAL(status, 0);
    release("parent");
    waiting.join();
}

struct Case {
    const char *name;
    void (*run)();
} const cases[] = {
    { "main returns", main_returns },
    { "nothing is destroyed", nothing_is_destroyed },
    { "exit is called", exit_is_called },
    { "exit in a callback", exit_in_a_callback },
    { "exit with a batch", exit_with_a_batch },
    { "the child of a fork", the_child_of_a_fork },
};

} // namespace

int main()
{
    for (const Case &each : cases) {
        const pid_t child = fork();
        if (child == 0) {
            alarm(120);
            each.run();
            return 0;
        }
        int status = -1;
        if (waitpid(child, &status, 0) != child || status != 0) FAIL("%s: wait status %d", each.name, status);
    }
    return 0;
}
