package import SDDCoders

/// A source that fetches the items of a batch: a downloader, or a layer above one. Must be thread-safe.
package protocol BatchSource: Sendable {
    /// Makes the request of an item. Its callbacks are told immediately on the deciding thread, with no lock held,
    /// perhaps before this returns.
    /// - Parameters:
    ///   - form: the form of its pixels and the memory they go to; nil: the source's default.
    ///   - totalLimit: microseconds that it may take; 0: the source's default.
    /// - Returns: its token; nil if the source is closed: then the callbacks are told nothing.
    func submit(_ entry: BatchEntry, in form: DecodeOptions?, totalLimit: Int64, callbacks: any AppCallbacks) -> UInt64?
    func cancel(_ token: UInt64)
}

/// The list or function that supplies a batch's items; called by one thread at a time, and never under a lock.
package protocol BatchInput: AnyObject, Sendable {
    /// The number of items; `nil` if it is known only when `next` returns `nil`.
    var count: Int? { get }
    /// Returns the next item; `nil` if there are no more.
    func next() -> BatchEntry?
}

/// One item as the application gave it.
package struct BatchEntry: Sendable {
    /// Unchecked bytes with a trailing NUL; `nil` for a URL that is NULL.
    package let url: [UInt8]?
    /// The application's id for the item.
    package let id: UInt64

    package init(url: [UInt8]?, id: UInt64) {
        self.url = url
        self.id = id
    }

    /// Calls `body` with the bytes of the URL, without the NUL; nil if there is no URL.
    package func withURL<Result>(_ body: (UnsafeBufferPointer<UInt8>?) -> Result) -> Result {
        guard let url else { return body(nil) }
        return unsafe url.withUnsafeBufferPointer { unsafe body(UnsafeBufferPointer(rebasing: $0.dropLast())) }
    }

    /// The URL's host, for statistics only: the part between "//" and the path, in lower case, without user info. "" if
    /// there is none.
    var host: String {
        guard let text = url?.dropLast(), let colon = text.firstIndex(of: UInt8(ascii: ":")) else { return "" }
        let rest = text[(colon + 1)...]
        guard rest.starts(with: [UInt8(ascii: "/"), UInt8(ascii: "/")]) else { return "" }
        let authority = rest.dropFirst(2).prefix { !Self.endsAuthority($0) }
        let start = authority.lastIndex(of: UInt8(ascii: "@")).map { $0 + 1 } ?? authority.startIndex
        return String(decoding: authority[start...], as: UTF8.self).lowercased()
    }

    private static func endsAuthority(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
    }
}
