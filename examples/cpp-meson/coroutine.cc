// coroutine: loads each picture in a coroutine. All of them run on the main thread, which delivers the events.
//
//     coroutine URL...
//
// Exit status 0: each URL ended with a picture.
#include <sdd/sdd.hpp>

#include <iostream>
#include <string>

// A coroutine that nobody waits for: it runs at once, up to its first co_await.
struct started {
    struct promise_type {
        started get_return_object() noexcept { return {}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() noexcept {}
        void unhandled_exception() noexcept { std::terminate(); }
    };
};

static started show(sdd::loader &loader, std::string url, int &pictures)
{
    const sdd::result<sdd::loaded> loaded = co_await loader.load(url);
    if (loaded) {
        pictures++;
        std::cout << url << ": " << loaded->image.width() << " x " << loaded->image.height() << '\n';
    } else {
        std::cout << url << ": " << loaded.error().what() << '\n';
    }
}

int main(int argc, char **argv)
try {
    sdd::downloader downloader({ .delivery = SDD_DELIVERY_APPLICATION });
    sdd::loader loader({ .downloader = downloader.get() });
    int pictures = 0;
    for (int i = 1; i < argc; i++) show(loader, argv[i], pictures);
    downloader.idle_wait().value(); // coroutines are resumed inside this call
    return argc > 1 && pictures == argc - 1 ? 0 : 1;
} catch (const sdd::error &error) {
    std::cerr << "coroutine: " << error.what() << '\n';
    return 1;
}
