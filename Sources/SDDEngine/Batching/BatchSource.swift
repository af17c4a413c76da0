package import SDDCoders

/// Who fetches the items of a batch: a downloader, or what sits above one. Any thread.
package protocol BatchSource: Sendable {
    /// Makes the request of an item. Its receiver is told at once on the deciding thread, with no lock held; perhaps
    /// before this returns.
    /// - Parameters:
    ///   - form: what its pixels are to be, and where they are to lie; nil: as the source has it.
    ///   - totalLimit: microseconds that it may take; 0: as the source has it.
    /// - Returns: its token; nil where nothing is fetched any more: then the receiver hears nothing.
    func submit(_ entry: BatchEntry, in form: PixelForm?, totalLimit: Int64, receiver: any Receiver) -> UInt64?
    func cancel(_ token: UInt64)
}

/// What a batch is to fetch: asked by one thread at a time, and never under a lock.
package protocol BatchInput: AnyObject, Sendable {
    /// nil: only the last item tells.
    var count: Int? { get }
    /// The next item; nil: there are no more.
    func next() -> BatchEntry?
}

/// One item as it was given.
package struct BatchEntry: Sendable {
    /// Unchecked, and with a NUL at its end; nil for a URL that is NULL.
    package let url: [UInt8]?
    /// The host's.
    package let id: UInt64

    package init(url: [UInt8]?, id: UInt64) {
        self.url = url
        self.id = id
    }

    /// What counts as its host in statistics: what stands between "//" and the path, in lower case, without a user.
    /// It decides nothing. "" where there is none.
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
