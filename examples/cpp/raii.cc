// c++ -std=c++17 -O2 raii.cc $(pkg-config --cflags --libs sdd) -o raii
//
// raii: libsdd in C++. Handles that release themselves, exceptions for errors, and downloads and loads that are futures
// and cancel themselves when they are destroyed.
//
//     raii URL...
//
// Downloads all URLs, and loads a thumbnail of the first one. Exit status 0: each URL ended with a picture.
#include <sdd/sdd.h>

#include <chrono>
#include <cstdio>
#include <exception>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace sdd {

class Error : public std::runtime_error {
public:
    Error(sdd_status status, const std::string &message)
        : std::runtime_error(std::string(sdd_status_name(status)) + ": " + message), status(status)
    {
    }
    /* Makes the error of the call that has just failed. */
    explicit Error(sdd_status status) : Error(status, sdd_last_error_message()) {}

    const sdd_status status;
};

inline void check(sdd_status status)
{
    if (status != SDD_OK)
        throw Error(status);
}

// A picture: one reference, which can be moved. clone() makes another reference to the same pixels.
class Image {
public:
    explicit Image(sdd_image *owned) noexcept : handle(owned) {}

    int width() const noexcept { return sdd_image_width(handle.get()); }
    int height() const noexcept { return sdd_image_height(handle.get()); }
    // 4 bytes a pixel: red, green, blue, alpha. Valid as long as the image.
    const uint8_t *row(int y) const noexcept
    {
        return sdd_image_pixels(handle.get()) + static_cast<size_t>(y) * sdd_image_stride(handle.get());
    }
    Image clone() const noexcept { return Image(sdd_image_retain(handle.get())); }

private:
    struct Release {
        void operator()(sdd_image *image) const noexcept { sdd_image_release(image); }
    };
    std::unique_ptr<sdd_image, Release> handle; // makes the class move-only, and frees
};

// A running download. get() waits for the picture, or throws the error; a download that is destroyed before it has
// ended is cancelled. It may outlive its downloader: a dead token does nothing.
class Download {
public:
    Download(sdd_token token, std::future<Image> picture) noexcept : token(token), picture(std::move(picture)) {}
    Download(Download &&other) noexcept : token(std::exchange(other.token, 0)), picture(std::move(other.picture)) {}
    Download &operator=(Download &&other) noexcept
    {
        std::swap(token, other.token);
        std::swap(picture, other.picture);
        return *this;
    }
    ~Download() { cancel(); }

    Image get() { return picture.get(); }
    bool ready() const { return picture.wait_for(std::chrono::seconds(0)) == std::future_status::ready; }
    // Its future then throws an Error with SDD_ERROR_CANCELLED. After the end of the download it does nothing.
    void cancel() noexcept { sdd_cancel(token); }
    void prioritize(int32_t priority) { check(sdd_set_priority(token, priority)); }

private:
    sdd_token token; // 0: moved from
    std::future<Image> picture;
};

struct Options {
    int32_t priority = SDD_PRIORITY_NORMAL;
    std::string referrer;
};

// Runs on a thread of the library. It is noexcept: an exception that left it would end the process.
inline void completed(const sdd_result *result, void *user_data) noexcept
{
    auto &promise = *static_cast<std::promise<Image> *>(user_data);
    try {
        if (result->error != SDD_OK)
            throw Error(result->error, result->message);
        promise.set_value(Image(sdd_image_retain(result->image))); // it was only borrowed
    } catch (...) {
        promise.set_exception(std::current_exception());
    }
}

// Both kinds of request end in the same way.
template <typename Request, typename Call>
Download submit(Request &request, Call call)
{
    auto promise = std::make_unique<std::promise<Image>>();
    std::future<Image> picture = promise->get_future();
    request.completed = completed;
    request.user_data = promise.get();
    request.user_data_free = [](void *promise) noexcept { delete static_cast<std::promise<Image> *>(promise); };
    sdd_status status = SDD_OK;
    const sdd_token token = call(&request, &status);
    if (token == 0)
        throw Error(status);
    promise.release(); // accepted: from now on user_data_free owns it
    return Download(token, std::move(picture));
}

class Downloader {
public:
    explicit Downloader(const sdd_downloader_config &config = SDD_DOWNLOADER_CONFIG_INIT)
    {
        sdd_downloader *created = nullptr;
        check(sdd_downloader_create(&config, &created));
        handle.reset(created);
    }

    Download download(const std::string &url, const Options &options = {})
    {
        sdd_download_request request = SDD_DOWNLOAD_REQUEST_INIT;
        request.url = url.c_str();
        request.priority = options.priority;
        request.referrer = options.referrer.empty() ? nullptr : options.referrer.c_str();
        return submit(request, [this](auto *request, auto *status) {
            return sdd_downloader_submit(handle.get(), request, status);
        });
    }
    sdd_downloader *get() const noexcept { return handle.get(); }

private:
    struct Destroy {
        void operator()(sdd_downloader *downloader) const noexcept { sdd_downloader_destroy(downloader); }
    };
    std::unique_ptr<sdd_downloader, Destroy> handle; // destroying it cancels running downloads
};

// Loads pictures from the shared cache, or with a downloader, which must live longer.
class Loader {
public:
    explicit Loader(const Downloader &over) : downloader(over.get())
    {
        sdd_loader_config config = SDD_LOADER_CONFIG_INIT;
        sdd_loader *created = nullptr;
        config.downloader = downloader;
        check(sdd_loader_create(&config, &created));
        handle.reset(created);
    }

    // Scaled to fit into a square while it is decoded.
    Download load(const std::string &url, int32_t side)
    {
        sdd_decode_options decode = SDD_DECODE_OPTIONS_INIT;
        sdd_load_request request = SDD_LOAD_REQUEST_INIT;
        decode.target_width = decode.target_height = side;
        request.url = url.c_str();
        request.decode = &decode;
        return submit(request, [this](auto *request, auto *status) {
            return sdd_loader_submit(handle.get(), request, status);
        });
    }

private:
    struct Destroy {
        void operator()(sdd_loader *loader) const noexcept { sdd_loader_destroy(loader); }
    };
    sdd_downloader *downloader;
    std::unique_ptr<sdd_loader, Destroy> handle; // destroying it cancels running loads
};

} // namespace sdd

int main(int argc, char **argv)
try {
    if (argc < 2) {
        std::fprintf(stderr, "usage: raii URL...\n");
        return 2;
    }
    sdd::Downloader downloader;
    sdd::Loader loader(downloader);
    std::vector<sdd::Download> downloads;
    for (int i = 1; i < argc; i++)
        downloads.push_back(downloader.download(argv[i], { SDD_PRIORITY_HIGH, "https://example.org/" }));
    downloader.download(argv[1]); // destroyed at once, so it is cancelled; the first one continues
    sdd::Download small = loader.load(argv[1], 64);

    int pictures = 0;
    for (int i = 1; i < argc; i++) {
        try {
            const sdd::Image image = downloads[static_cast<size_t>(i - 1)].get();
            const uint8_t *middle = image.row(image.height() / 2) + image.width() / 2 * 4;
            std::printf("%s: %d x %d, #%02x%02x%02x in the middle\n", argv[i], image.width(), image.height(),
                        middle[0], middle[1], middle[2]);
            pictures++;
        } catch (const sdd::Error &error) {
            std::printf("%s: %s\n", argv[i], error.what());
        }
    }
    try {
        const sdd::Image image = small.get();
        std::printf("%s: %d x %d, small\n", argv[1], image.width(), image.height());
    } catch (const sdd::Error &error) {
        std::printf("%s: %s, small\n", argv[1], error.what());
    }
    return pictures == argc - 1 ? 0 : 1;
} catch (const std::exception &error) {
    std::fprintf(stderr, "raii: %s\n", error.what());
    return 1;
}
