// c++ -std=c++17 -O2 raii.cc $(pkg-config --cflags --libs sdd) -o raii
//
// raii: libsdd in C++. Downloads and loads that cancel themselves when they are destroyed, results that are a value or an
// error, pixels as views.
//
//     raii URL...
//
// Downloads all URLs, and loads a thumbnail of the first one. Exit status 0: each URL ended with a picture.
#include <sdd/sdd.hpp>

#include <cstdio>
#include <vector>

// Prints one line on a picture, or on the error in its place: whether it is a picture.
static bool show(const char *url, const sdd::result<sdd::loaded> &loaded)
{
    if (!loaded) {
        std::printf("%s: %s\n", url, loaded.error().what());
        return false;
    }
    const sdd::pixel_view pixels = loaded->image.pixels();
    const sdd::byte_view middle = pixels.at(pixels.width / 2, pixels.height / 2);
    std::printf("%s: %d x %d, #%02x%02x%02x in the middle\n", url, pixels.width, pixels.height, middle[0], middle[1],
                middle[2]);
    return true;
}

int main(int argc, char **argv)
try {
    if (argc < 2) {
        std::fprintf(stderr, "usage: raii URL...\n");
        return 2;
    }
    sdd::downloader downloader; // destroyed last: that cancels what is under way
    sdd::loader_config config;
    config.downloader = downloader.get();
    sdd::loader loader(config);

    std::vector<sdd::pending<sdd::loaded>> downloads;
    for (int i = 1; i < argc; i++) {
        sdd::download_request request;
        request.url = argv[i];
        request.priority = SDD_PRIORITY_HIGH;
        request.transfer.referrer = "https://example.org/";
        downloads.push_back(downloader.download(request));
    }
    (void)downloader.download(argv[1]); // destroyed at once, so it is cancelled; the first one continues
    sdd::load_request thumbnail;
    thumbnail.url = argv[1];
    thumbnail.decode = sdd::decode_options::to_size(64, 64); // scaled while it is decoded
    const auto small = loader.load(thumbnail);

    int pictures = 0;
    for (int i = 1; i < argc; i++) pictures += show(argv[i], downloads[static_cast<std::size_t>(i - 1)].get());
    try {
        const sdd::loaded loaded = small.get().value(); // or throws
        std::printf("%s: %d x %d, small\n", argv[1], loaded.image.width(), loaded.image.height());
    } catch (const sdd::error &error) {
        std::printf("%s: %s, small\n", argv[1], error.what());
    }
    return pictures == argc - 1 ? 0 : 1;
} catch (const std::exception &error) {
    std::fprintf(stderr, "raii: %s\n", error.what());
    return 1;
}
