package import SDDBase
package import SDDCoders

/// Computes the keys under which caches store images. Keys become names of files that outlive the library, so the way
/// they are made never changes. Pure functions, callable from any thread.
///
/// The key of a derived image is the original's key with a description inserted before the extension,
/// "photo-Thumbnail({200.000000, 100.000000},1).jpg", as in SDWebImage, but for its `%7B` and `%7D`.
package enum CacheKeys {
    /// Returns the key of a URL, without its user and password: requests with credentials are kept apart by a mark of
    /// their own (`ImageCache.mark`). Braces, which a URL should not contain (RFC 3986 §2), are escaped, so that no URL
    /// can be mistaken for a thumbnail or another form of another.
    package static func key(of url: ImageURL) -> String {
        let text = url.textWithoutUserinfo
        guard unsafe text.withRawUTF8({ unsafe $0.contains(where: isBrace) }) else { return text }
        var key = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "{"): key += "%7B"
            case UInt8(ascii: "}"): key += "%7D"
            default: key.unicodeScalars.append(Unicode.Scalar(byte))
            }
        }
        return key
    }

    /// Returns the key of the image that is decoded from `original` in the given form, with the form's transforms
    /// applied.
    /// - Returns: nil for pixels in memory that the application owns, which belong to one caller; `original` itself if
    ///   the form changes nothing.
    package static func key(of original: String, as form: DecodeOptions) -> String? {
        guard form.memory.owner == .library else { return nil }
        var parts: [String] = []
        if let thumbnail = thumbnail(form.size) { parts.append(thumbnail) }
        if let rest = rest(form) { parts.append(rest) }
        if let transforms = form.transforms { parts.append("Transform({\(transforms.key)})") }
        // An original has the colours that it has: each form is decoded from it.
        if form.colour == .asStored, !parts.isEmpty { parts.append("Colour(stored)") }
        return parts.isEmpty ? original : insert("-" + parts.joined(separator: "-"), into: original)
    }

    /// Returns `nil` if the size is unrestricted. Six decimals match SDWebImage, which formats floating-point numbers.
    private static func thumbnail(_ size: SizeRule) -> String? {
        guard size.width > 0 || size.height > 0 else { return nil }
        return "Thumbnail({\(size.width).000000,\(size.height).000000},\(size.fit == .stretch ? 0 : 1))"
    }

    /// Returns the parts of a form that change the pixels, apart from a thumbnail's width and height:
    /// "Form({fill,format=3,rows=64})". Lists only the parts that differ from the default, always in this order.
    private static func rest(_ form: DecodeOptions) -> String? {
        var parts: [String] = []
        if form.size.fit == .fill { parts.append("fill") }
        if form.size.allowsEnlarging { parts.append("enlarge") }
        if form.size.isExact { parts.append("exact") }
        if form.size.byteLimit > 0 { parts.append("bytes=\(form.size.byteLimit)") }
        // The number is the SDD_PIXEL_FORMAT_ constant of the C header, which never changes either.
        if form.format != .rgba8 { parts.append("format=\(form.format.rawValue)") }
        if form.background != 0 { parts.append("background=" + String(form.background, radix: 16)) }
        if !form.isUpright { parts.append("stored") }
        if form.isLenient { parts.append("lenient") }
        if form.memory.rowAlignment > 1 { parts.append("rows=\(form.memory.rowAlignment)") }
        switch form.frames {
        case .access: break
        case .firstOnly: parts.append("first")
        case .preload: parts.append("preload")
        case .still: parts.append("still")
        }
        if let format = form.formatHint { parts.append("hint=\(format.rawValue)") }
        return parts.isEmpty ? nil : "Form({" + parts.joined(separator: ",") + "})"
    }

    /// Inserts `part` before the extension of the URL's path, or appends it after query and fragment if there is none.
    private static func insert(_ part: String, into key: String) -> String {
        guard let dot = extensionDot(of: key.utf8) else { return key + part }
        return String(key[..<dot]) + part + String(key[dot...])
    }

    /// Returns the index of the dot in "photo.jpg", if it neither begins nor ends the last path segment.
    private static func extensionDot(of key: String.UTF8View) -> String.Index? {
        let path = key[pathStart(of: key)...].prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        let name = path.lastIndex(of: UInt8(ascii: "/")).map { path[path.index(after: $0)...] } ?? path
        guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot > name.startIndex else { return nil }
        return name.index(after: dot) < name.endIndex ? dot : nil
    }

    /// Returns the index after "https://host", whose dots start no extension, or the start index if the key is no such
    /// URL.
    private static func pathStart(of key: String.UTF8View) -> String.Index {
        guard let colon = key.firstIndex(of: UInt8(ascii: ":")), key[key.index(after: colon)...].starts(with: "//".utf8)
        else { return key.startIndex }
        let authority = key[key.index(colon, offsetBy: 3)...]
        return authority.firstIndex { "/?#".utf8.contains($0) } ?? key.endIndex
    }

    private static func isBrace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "{") || byte == UInt8(ascii: "}") }
}
