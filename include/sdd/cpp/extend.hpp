/*
 * sdd/cpp/extend.hpp - Transports and coders of the application, as classes to derive from.
 */
#ifndef SDD_CPP_EXTEND_HPP
#define SDD_CPP_EXTEND_HPP

#include "modifier.hpp"

SDD_CPP_BEGIN

/* ----------------------------------------------------------------------------------- transports */

/**
 * A transfer of a transport of the application. A number: copies stand for the same transfer.
 * Thread: any, one at a time for one transfer. Errors: SDD_ERROR_NOT_FOUND once it has ended.
 */
class transfer {
public:
    explicit transfer(sdd_transfer id) noexcept : id_(id) {}

    /** Gives the response's header, once, before any data: sdd_transfer_respond(). */
    result<void> respond(int32_t http_status, const std::vector<header> &headers = {},
                         int64_t expected_bytes = -1) const {
        const auto fields = detail::c_headers(headers);
        return detail::checked(sdd_transfer_respond(id_, http_status, fields.data(), fields.size(),
                                                    expected_bytes));
    }
    /** Appends bytes to the body. */
    result<void> write(byte_view data) const {
        return detail::checked(sdd_transfer_write(id_, data.data(), data.size()));
    }
    result<void> write(std::string_view text) const { return write(as_bytes(text)); }
    /** Ends the transfer: SDD_OK or one of the 3000s. */
    result<void> finish(sdd_status status = SDD_OK, const std::string &message = {}) const {
        return detail::checked(
            sdd_transfer_finish(id_, status, message.empty() ? nullptr : message.c_str()));
    }
    sdd_transfer get() const noexcept { return id_; }
    friend bool operator==(transfer a, transfer b) noexcept { return a.id_ == b.id_; }
    friend bool operator<(transfer a, transfer b) noexcept { return a.id_ < b.id_; }

private:
    sdd_transfer id_;
};

/** The request that a transport carries out. Lifetime: until start() returns. */
struct transfer_request {
    std::string_view url;
    std::string_view method;
    std::vector<std::pair<std::string_view, std::string_view>> headers;
    byte_view body; /* valid until the transfer has ended */
    sdd_priority priority = SDD_PRIORITY_DEFAULT;
};

/**
 * Fetches URLs in place of the library: derive from it, and give it to
 * downloader::add_transport().
 *
 * Ownership: the downloader keeps the shared_ptr until it has ended, or the transport was removed
 * and its requests have ended.
 * Errors: an exception in start() is handed on (set_exception_handler()), and the transfer ends
 * with SDD_ERROR_TRANSPORT and the exception's sentence. One in another function is handed on;
 * can_load() then counts as false.
 * Thread: sdd-net, one at a time; can_load() on the submitting thread, several at a time; cancel()
 *     also on the thread that ends the downloader. They must not block.
 */
class transport {
public:
    transport() = default;
    transport(const transport &) = delete;
    transport &operator=(const transport &) = delete;
    virtual ~transport() = default;

    /** Begins a transfer. The response is given from any thread, here or later. */
    virtual void start(transfer to, const transfer_request &request) = 0;
    /** The transfer is no longer wanted. */
    virtual void cancel(transfer unwanted) = 0;
    virtual void set_priority(transfer, sdd_priority) {}
    /** Whether it fetches that URL of its scheme. */
    virtual bool can_load(std::string_view) { return true; }
};

namespace detail {

using kept_transport = std::shared_ptr<transport>;

inline sdd_transport c_transport() noexcept {
    sdd_transport made = SDD_TRANSPORT_INIT;
    made.start = [](sdd_transfer id, const sdd_transfer_request *from, void *user_data) noexcept {
        transport &self = **static_cast<kept_transport *>(user_data);
        const auto thrown = thrown_by("transport.start", [&] {
            transfer_request request{view_of(from->url), view_of(from->method), {},
                                     {static_cast<const std::uint8_t *>(from->body),
                                      from->body_size},
                                     from->priority};
            for (std::size_t i = 0; i < from->header_count; i++)
                request.headers.emplace_back(view_of(from->headers[i].name),
                                             view_of(from->headers[i].value));
            self.start(transfer(id), request);
        });
        if (thrown) (void)transfer(id).finish(SDD_ERROR_TRANSPORT, describe(thrown));
    };
    made.cancel = [](sdd_transfer id, void *user_data) noexcept {
        guarded("transport.cancel",
                [&] { (*static_cast<kept_transport *>(user_data))->cancel(transfer(id)); });
    };
    made.set_priority = [](sdd_transfer id, sdd_priority priority, void *user_data) noexcept {
        guarded("transport.set_priority", [&] {
            (*static_cast<kept_transport *>(user_data))->set_priority(transfer(id), priority);
        });
    };
    made.can_load = [](const char *url, void *user_data) noexcept {
        return guarded("transport.can_load", int32_t{0}, [&] {
            return int32_t{(*static_cast<kept_transport *>(user_data))->can_load(url)};
        });
    };
    made.user_data_free = free_user_data<kept_transport>;
    return made;
}

} // namespace detail

/* --------------------------------------------------------------------------------------- coders */

/**
 * Decodes one picture: made by coder::open(), owned by the library until the picture is decoded, or
 * its last frame released. The functions return SDD_OK or an error, as the comment of sdd_coder
 * says. An exception is handed on and fails the picture with SDD_DETAIL_IMAGE_CODER.
 * Thread: decode threads; one call at a time.
 */
class decoder {
public:
    decoder() = default;
    decoder(const decoder &) = delete;
    decoder &operator=(const decoder &) = delete;
    virtual ~decoder() = default;

    /** Takes the body, piece after piece; see sdd_coder.feed for how long it stays valid. */
    virtual sdd_status feed(byte_view bytes, bool is_last) = 0;
    /** Says what the picture will take, before the first call of next() or preview(), if
        coder::has_estimates(): see sdd_coder.estimate. */
    virtual sdd_status estimate(sdd_coder_estimate &estimate) {
        (void)estimate;
        return SDD_ERROR_UNSUPPORTED;
    }
    /** Sets the size of the frames to come, after the first estimate(), if coder::draws(): see
        sdd_coder.resize. */
    virtual sdd_status resize(int32_t width, int32_t height) {
        (void)width, (void)height;
        return SDD_ERROR_UNSUPPORTED;
    }
    /** Gives the next frame, whose pixels stay valid until the next call; SDD_ERROR_NOT_FOUND:
        there is no more. All fields but struct_size are 0 before. */
    virtual sdd_status next(sdd_coder_frame &frame) = 0;
    /** Shows what the pieces so far give, if coder::has_previews(): see sdd_coder.preview. */
    virtual sdd_status preview(sdd_coder_preview &preview) {
        (void)preview;
        return SDD_ERROR_UNSUPPORTED;
    }
};

/**
 * A format that the application decodes, and perhaps encodes: derive from it, and give it to
 * process_add_coder() or downloader::add_coder().
 *
 * Ownership: the library keeps the shared_ptr until the coder is removed or its downloader has
 * ended, and no picture of it is left.
 * Thread: decode threads, several at a time.
 */
class coder {
public:
    coder() = default;
    coder(const coder &) = delete;
    coder &operator=(const coder &) = delete;
    virtual ~coder() = default;

    /** "webp": an HTTP token. Asked once, when the coder is added. */
    virtual std::string name() const = 0;
    /** "image/webp"; "": none. Asked once. */
    virtual std::string mime_type() const { return {}; }
    /** Asked once. */
    virtual sdd_image_format format() const = 0;
    /** 1: takes a body with these first bytes; 0: does not; -1: they are too few to tell. An
        exception is handed on and counts as 0. */
    virtual int32_t can_decode(byte_view first_bytes) = 0;
    /** Begins a picture; none: no memory. */
    virtual std::unique_ptr<decoder> open(const sdd_coder_task &task) = 0;
    /** Whether its decoders take a body in pieces, and show previews. Asked once. */
    virtual bool has_previews() const { return false; }
    /** Whether its decoders say what a picture will take: decoder::estimate(). Asked once. */
    virtual bool has_estimates() const { return false; }
    /** Whether its decoders draw frames of any size: decoder::resize(). It then needs estimates.
        Asked once. */
    virtual bool draws() const { return false; }
    /** Whether encode() works. Asked once. */
    virtual bool can_encode() const { return false; }
    /** Encodes a picture, in SDD_PIXEL_FORMAT_RGBA8, with quality 1 to 100; none: it cannot. */
    virtual std::optional<std::string> encode(const pixel_view &picture, int32_t quality) {
        (void)picture, (void)quality;
        return std::nullopt;
    }
    /** Whether encode_frames() works. Asked once. */
    virtual bool can_encode_frames() const { return false; }
    /** Encodes an animation: takes its frames, in SDD_PIXEL_FORMAT_RGBA8, from `next` until there
        are no more; none: it cannot. A frame is borrowed until the next one. */
    virtual std::optional<std::string> encode_frames(
        const std::function<std::optional<sdd_coder_frame>()> &next, int32_t quality) {
        (void)next, (void)quality;
        return std::nullopt;
    }
};

namespace detail {

/* The number that fails a picture with SDD_DETAIL_IMAGE_CODER. */
inline constexpr sdd_status coder_failed = -1;

struct kept_coder {
    std::shared_ptr<sdd::coder> coder;
    std::string name, mime_type;
};

inline sdd::coder &coder_of(void *user_data) noexcept {
    return *static_cast<kept_coder *>(user_data)->coder;
}

inline sdd_status encode_with(const sdd_coder_frame *from, int32_t quality,
                              sdd_coder_write_fn write, void *context, void *user_data) noexcept {
    return guarded("coder.encode", coder_failed, [&]() -> sdd_status {
        pixel_view picture{{}, from->width, from->height, from->stride, from->pixel_format};
        picture.bytes = {static_cast<const std::uint8_t *>(from->pixels), picture.needed()};
        const auto made = coder_of(user_data).encode(picture, quality);
        return made ? write(context, made->data(), made->size()) : SDD_ERROR_UNSUPPORTED;
    });
}

inline sdd_status encode_frames_with(sdd_coder_next_fn next, void *source, int32_t quality,
                                     sdd_coder_write_fn write, void *context,
                                     void *user_data) noexcept {
    return guarded("coder.encode_frames", coder_failed, [&]() -> sdd_status {
        sdd_status status = SDD_OK;
        const auto made = coder_of(user_data).encode_frames(
            [&]() -> std::optional<sdd_coder_frame> {
                sdd_coder_frame frame{};
                frame.struct_size = sizeof frame;
                status = next(source, &frame);
                return status == SDD_OK ? std::optional(frame) : std::nullopt;
            },
            quality);
        if (status != SDD_OK && status != SDD_ERROR_NOT_FOUND) return status;
        return made ? write(context, made->data(), made->size()) : SDD_ERROR_UNSUPPORTED;
    });
}

inline sdd_coder c_coder(kept_coder &kept) {
    sdd_coder made = SDD_CODER_INIT;
    made.name = kept.name.c_str();
    made.mime_type = or_null(kept.mime_type);
    made.format = kept.coder->format();
    made.can_decode = [](const void *bytes, std::size_t size, void *user_data) noexcept {
        return guarded("coder.can_decode", int32_t{0}, [&] {
            return coder_of(user_data).can_decode({static_cast<const std::uint8_t *>(bytes), size});
        });
    };
    made.open = [](const sdd_coder_task *task, void **decoder, void *user_data) noexcept {
        return guarded("coder.open", coder_failed, [&]() -> sdd_status {
            *decoder = coder_of(user_data).open(*task).release();
            return *decoder ? SDD_OK : SDD_ERROR_NO_RESOURCES;
        });
    };
    made.feed = [](void *self, const void *bytes, std::size_t size, int32_t is_last,
                   void *) noexcept {
        return guarded("decoder.feed", coder_failed, [&] {
            return static_cast<decoder *>(self)->feed(
                {static_cast<const std::uint8_t *>(bytes), size}, is_last != 0);
        });
    };
    made.next = [](void *self, sdd_coder_frame *frame, void *) noexcept {
        return guarded("decoder.next", coder_failed,
                       [&] { return static_cast<decoder *>(self)->next(*frame); });
    };
    made.close = [](void *self, void *) noexcept { delete static_cast<decoder *>(self); };
    if (kept.coder->has_previews())
        made.preview = [](void *self, sdd_coder_preview *preview, void *) noexcept {
            return guarded("decoder.preview", coder_failed,
                           [&] { return static_cast<decoder *>(self)->preview(*preview); });
        };
    if (kept.coder->has_estimates())
        made.estimate = [](void *self, sdd_coder_estimate *estimate, void *) noexcept {
            return guarded("decoder.estimate", coder_failed,
                           [&] { return static_cast<decoder *>(self)->estimate(*estimate); });
        };
    if (kept.coder->draws())
        made.resize = [](void *self, int32_t width, int32_t height, void *) noexcept {
            return guarded("decoder.resize", coder_failed,
                           [&] { return static_cast<decoder *>(self)->resize(width, height); });
        };
    if (kept.coder->can_encode()) made.encode = encode_with;
    if (kept.coder->can_encode_frames()) made.encode_frames = encode_frames_with;
    made.user_data = &kept;
    made.user_data_free = free_user_data<kept_coder>;
    return made;
}

/* Adds a coder by a C function, which takes it over if it succeeds: add(&coder). */
template <class Add> result<void> added(std::shared_ptr<coder> coder, Add &&add) {
    if (!coder) return error(SDD_ERROR_INVALID_ARGUMENT, "sdd::coder: there is none.");
    auto kept = std::make_unique<kept_coder>();
    kept->name = coder->name();
    kept->mime_type = coder->mime_type();
    kept->coder = std::move(coder);
    const sdd_coder c = c_coder(*kept);
    auto added = checked(add(&c));
    if (added) (void)kept.release();
    return added;
}

} // namespace detail

/** Adds a coder to every downloader of the process. */
inline result<void> process_add_coder(std::shared_ptr<coder> coder) {
    return detail::added(std::move(coder), sdd_process_add_coder);
}
/** Removes the newest coder of that name. */
inline result<void> process_remove_coder(const std::string &name) {
    return detail::checked(sdd_process_remove_coder(name.c_str()));
}
/** Loads a shared object with a coder, and adds that to the process. WAITS for the disk. */
inline result<void> process_load_coder_wait(const std::string &path) {
    return detail::checked(sdd_process_load_coder_wait(path.c_str()));
}

SDD_CPP_END

#endif /* SDD_CPP_EXTEND_HPP */
