// Transports and coders of the application, as C++ classes.
#include "check.hpp"

#include <map>

namespace {

// Fetches "memory:NAME": a text, a held transfer, or an exception.
class Memory : public sdd::transport {
public:
    ~Memory() override { ended++; }

    void start(sdd::transfer to, const sdd::transfer_request &request) override
    {
        const std::string name(request.url.substr(7));
        if (name == "throw") throw std::runtime_error("no such memory");
        if (name == "hold") {
            held_ones++;
            return;
        }
        for (const auto &[field, value] : request.headers)
            if (field == "X-Test") tests += value;
        CHECK(request.method == "GET" && request.body.empty());
        const auto size = static_cast<int64_t>(name.size());
        CHECK(to.respond(200, { { "Content-Type", "text/plain" }, { "X-Made", "1" } }, size));
        CHECK_STATUS(to.respond(200).status(), SDD_ERROR_INVALID_ARGUMENT); // once
        CHECK(to.write(name.substr(0, 2)) && to.write(sdd::as_bytes(name).subspan(2)));
        CHECK(to.finish());
        CHECK_STATUS(to.finish().status(), SDD_ERROR_NOT_FOUND);
    }
    void cancel(sdd::transfer) override { cancelled_ones++; }
    bool can_load(std::string_view url) override
    {
        if (url == "memory:unsure") throw std::runtime_error("unsure");
        return url != "memory:other";
    }

    static std::atomic<int> ended;
    std::atomic<int> held_ones{ 0 }, cancelled_ones{ 0 };
    std::string tests;
};

std::atomic<int> Memory::ended{ 0 };

CASE(a_transport)
{
    Thrown thrown;
    auto memory = std::make_shared<Memory>();
    sdd::downloader downloader;
    CHECK(downloader.add_transport("memory", memory));
    CHECK_STATUS(downloader.add_transport("memory", nullptr).status(), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(downloader.add_transport("*?", std::make_shared<Memory>()).status(), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_EQUAL(Memory::ended, 1); // the one that was refused

    sdd::download_request request;
    request.url = "memory:hello";
    request.options = SDD_OPTION_BYTES_ONLY;
    request.transfer.headers = { { "X-Test", "yes" } };
    const auto hello = downloader.download(request).get().value();
    CHECK(hello.bytes.text() == "hello" && hello.response.header("X-Made") == "1" && memory->tests == "yes");

    const auto failed = downloader.download("memory:throw").get();
    CHECK_STATUS(failed.status(), SDD_ERROR_TRANSPORT);
    CHECK(failed.error().message().find("no such memory") != std::string::npos);
    CHECK_THROWN(thrown, "transport.start: no such memory");
    CHECK_EQUAL(downloader.download("memory:other").get().error().detail(), SDD_DETAIL_URL_SCHEME);
    CHECK_EQUAL(downloader.download("memory:unsure").get().error().detail(), SDD_DETAIL_URL_SCHEME);
    CHECK_THROWN(thrown, "transport.can_load: unsure");

    auto held_one = downloader.download("memory:hold");
    while (memory->held_ones == 0) std::this_thread::yield();
    CHECK(held_one.cancel() && !held_one.get());
    CHECK(downloader.remove_transport("memory"));
    CHECK_STATUS(downloader.remove_transport("memory").status(), SDD_ERROR_NOT_FOUND);
    CHECK_STATUS(downloader.destroy(), SDD_OK);
    CHECK_EQUAL(memory->cancelled_ones, 1);
    CHECK_EQUAL(memory.use_count(), 1);
    memory.reset();
    CHECK_EQUAL(Memory::ended, 2);
}

static std::atomic<int> resized;

// A format of the tests: "TOY" and a digit, the number of frames; each frame is 2 x 1 grey pixels.
class ToyDecoder : public sdd::decoder {
public:
    sdd_status feed(sdd::byte_view bytes, bool is_last) override
    {
        CHECK(is_last && bytes.size() >= 4);
        if (bytes[3] == '!') throw std::runtime_error("damaged");
        frames = bytes[3] - '0';
        return frames > 0 ? sdd_status{ SDD_OK } : sdd_status{ SDD_DETAIL_IMAGE_ZERO_PIXELS };
    }
    sdd_status estimate(sdd_coder_estimate &estimate) override
    {
        CHECK(estimate.struct_size == sizeof estimate && given == 0);
        estimate.width = 2, estimate.height = 1;
        estimate.decode_bytes = sizeof *this;
        return SDD_OK;
    }
    sdd_status resize(int32_t width, int32_t height) override
    {
        CHECK(width == 2 && height == 1);
        resized++;
        return SDD_OK;
    }
    sdd_status next(sdd_coder_frame &frame) override
    {
        if (given == frames) return SDD_ERROR_NOT_FOUND;
        pixels[0] = static_cast<uint8_t>(10 * ++given);
        pixels[1] = 255;
        frame.pixels = pixels;
        frame.stride = 2, frame.width = 2, frame.height = 1;
        frame.pixel_format = SDD_PIXEL_FORMAT_GREY8;
        frame.frame_count = frames;
        frame.duration_us = 1000 * given;
        return SDD_OK;
    }

private:
    int frames = 0, given = 0;
    uint8_t pixels[2];
};

class Toy : public sdd::coder {
public:
    std::string name() const override { return "toy"; }
    std::string mime_type() const override { return "image/x-toy"; }
    sdd_image_format format() const override { return SDD_IMAGE_FORMAT_APPLICATION + 7; }
    int32_t can_decode(sdd::byte_view first_bytes) override
    {
        return first_bytes.size() < 3 ? -1 : first_bytes[0] == 'T' && first_bytes[1] == 'O' && first_bytes[2] == 'Y';
    }
    std::unique_ptr<sdd::decoder> open(const sdd_coder_task &task) override
    {
        CHECK(task.max_pixels > 0);
        return std::make_unique<ToyDecoder>();
    }
    bool has_estimates() const override { return true; }
    bool draws() const override { return true; }
    bool can_encode() const override { return true; }
    std::optional<std::string> encode(const sdd::pixel_view &picture, int32_t quality) override
    {
        CHECK(picture.format == SDD_PIXEL_FORMAT_RGBA8);
        CHECK(picture.row(0).size() == static_cast<size_t>(picture.width) * 4);
        if (quality == 1) return std::nullopt;
        if (quality == 2) throw std::runtime_error("too bad");
        return "TOY1";
    }
    bool can_encode_frames() const override { return true; }
    std::optional<std::string> encode_frames(
        const std::function<std::optional<sdd_coder_frame>()> &next, int32_t quality) override
    {
        std::string made = std::to_string(quality);
        while (const auto frame = next()) {
            CHECK(frame->pixel_format == SDD_PIXEL_FORMAT_RGBA8 && frame->frame_count == 2);
            made += " " + std::to_string(*static_cast<const std::uint8_t *>(frame->pixels)) + "," +
                    std::to_string(frame->duration_us) + "," + std::to_string(frame->loop_count);
        }
        return made;
    }
};

CASE(a_coder_of_a_downloader)
{
    Thrown thrown;
    auto toy = std::make_shared<Toy>();
    sdd::downloader downloader;
    CHECK(downloader.add_coder(toy));
    CHECK_STATUS(downloader.add_coder(nullptr).status(), SDD_ERROR_INVALID_ARGUMENT);
    CHECK(downloader.header("Accept").value().find("image/x-toy") != std::string::npos);
    sdd::image animated = downloader.download(url_of("/ok?text=TOY3")).get().value().image;
    CHECK(animated.info().format == toy->format() && animated.width() == 2 && animated.info().frame_count == 3);
    CHECK_EQUAL(animated.frame(2).value().pixels().at(0, 0)[0], 30);
    CHECK(animated.frame_duration(1) == std::chrono::milliseconds(2));
    CHECK_STATUS(animated.frame(3).status(), SDD_ERROR_NOT_FOUND);
    const auto none = downloader.download(url_of("/ok?text=TOY0")).get();
    CHECK_EQUAL(none.error().detail(), SDD_DETAIL_IMAGE_ZERO_PIXELS);
    const auto damaged = downloader.download(url_of("/ok?text=TOY!")).get();
    CHECK_EQUAL(damaged.error().detail(), SDD_DETAIL_IMAGE_CODER);
    CHECK_THROWN(thrown, "decoder.feed: damaged");
    CHECK(downloader.remove_coder("toy"));
    CHECK_EQUAL(downloader.download(url_of("/ok?text=TOY1")).get().error().detail(), SDD_DETAIL_IMAGE_UNKNOWN_FORMAT);
    CHECK_STATUS(downloader.destroy(), SDD_OK);
    CHECK(toy.use_count() > 1); // the animated picture still takes frames from it
    CHECK_EQUAL(animated.frame(0).value().pixels().at(0, 0)[0], 10);
    animated = {};
    CHECK_EQUAL(toy.use_count(), 1);
}

CASE(a_coder_of_the_process)
{
    Thrown thrown;
    auto toy = std::make_shared<Toy>();
    CHECK(sdd::process_add_coder(toy));
    const sdd::image image = sdd::image::decode(sdd::as_bytes("TOY1")).value();
    CHECK_EQUAL(image.pixels().at(0, 0)[1], 10);
    CHECK(resized > 0);
    sdd::encode_options options;
    options.format = toy->format();
    CHECK(image.encode(options).value().text() == "TOY1");
    options.quality = 1;
    CHECK_STATUS(image.encode(options).status(), SDD_ERROR_UNSUPPORTED);
    options.quality = 2;
    CHECK(!image.encode(options));
    CHECK_THROWN(thrown, "coder.encode: too bad");
    const std::uint8_t first[] = {7, 0, 0}, second[] = {9, 0, 0};
    const sdd::image seven = sdd::image::create({first, 1, 1, 3, SDD_PIXEL_FORMAT_RGB8}).value();
    const sdd::image nine = sdd::image::create({second, 1, 1, 3, SDD_PIXEL_FORMAT_RGB8}).value();
    using std::chrono::microseconds;
    const sdd::image moving =
        sdd::image::animation({{seven, microseconds(40000)}, {nine, microseconds(5)}}, 4).value();
    CHECK_EQUAL(moving.info().frame_count, 2);
    CHECK(moving.frame_duration(1) == microseconds(5));
    options.quality = 6;
    options.animated = 1;
    CHECK(moving.encode(options).value().text() == "6 7,40000,4 9,5,4");
    options.format = 0;
    const sdd::bytes png = moving.encode(options).value();
    CHECK_EQUAL(sdd::image::decode(png.view()).value().info().frame_count, 2);
    CHECK_STATUS(sdd::image::animation({}).status(), SDD_ERROR_INVALID_ARGUMENT);
    CHECK(sdd::process_remove_coder("toy"));
    CHECK_STATUS(sdd::process_remove_coder("toy").status(), SDD_ERROR_NOT_FOUND);
    CHECK_EQUAL(toy.use_count(), 1);
    CHECK_STATUS(sdd::process_load_coder_wait("/nowhere.so").status(), SDD_ERROR_FILE_NOT_READABLE);
    CHECK(!sdd::process_load_coder_wait("/nowhere.so").error().message().empty());
}

} // namespace

int main() { return run_cases(); }
