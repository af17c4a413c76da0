import SDDBase
import SDDCoders

/// A search for an image in a cache's memory, in the wanted form. Searching never blocks. Callable from any thread.
package final class MemorySearch: @unchecked Sendable {
    // Safety: immutable but for `known`, which is set before another thread knows the object.
    let cache: ImageCache
    /// The keys of the original and of the wanted form; `wanted` is `nil` for a form that has no key.
    let original: String
    let wanted: String?
    let form: DecodeOptions
    /// The header fields of the request; `nil` if any image will do.
    let headers: HTTPFields?
    /// The result of a search that `searchAhead` has made; `nil` before.
    private(set) var known: Held?

    init(_ cache: ImageCache, original: String, wanted: String?, form: DecodeOptions, headers: HTTPFields?) {
        self.cache = cache
        self.original = original
        self.wanted = wanted
        self.form = form
        self.headers = headers
    }

    /// The image that memory holds under the wanted key.
    struct Held {
        /// The image in the wanted form.
        var ready: Image?
        /// An image to make it from: the original in another form, or without its pixels.
        var undecoded: Image?
        /// `ImageCache.memoryVersion` before the search.
        var version: Int
    }

    /// Makes the search before the rest of the load is read.
    func searchAhead() { known = held() }

    func held() -> Held {
        Trace.step("search memory")
        var held = Held(version: cache.memoryVersion)
        guard let wanted else { return held }
        let image = cache.image(for: wanted, askedWith: headers)
        if let image, image.serves(form) {
            held.ready = image
        } else if form.frames == .firstOnly, let stillImage {
            held.ready = stillImage
        } else if wanted == original, image?.bytes != nil {
            held.undecoded = image
        }
        return held
    }

    /// A still image for a request of the first frame only: an image in memory without other frames, or the first frame
    /// of an animated one. Not the latter if the form has transforms: they apply to still images, not to frames.
    private var stillImage: Image? {
        var moving = form
        moving.frames = .access
        guard let key = CacheKeys.key(of: original, as: moving),
            let image = cache.image(for: key, askedWith: headers), image.serves(moving)
        else { return nil }
        if image.animation == nil { return image }
        return form.transforms == nil ? image.still(form) : nil
    }
}
