package import SDDBase
package import SDDCoders

/// The keys under which a cache knows pictures. They are names of files that outlive the library: what makes them never
/// changes. Pure functions; any thread.
///
/// What is made of a picture has its key with the making put before the extension, "photo-Thumbnail({200.000000,
/// 100.000000},1).jpg", as SDWebImage has it.
package enum CacheKeys {
    /// Of what a URL names, without a user and password in it: who asks has a mark of his own (`ImageCache.mark`). Braces, which a URL should not have (RFC 3986 §2), are escaped, so that no URL passes for the
    /// thumbnail of another.
    package static func key(of url: ImageURL) -> String {
        let text = url.textWithoutUserinfo
        guard text.utf8.contains(where: isBrace) else { return text }
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

    /// Of what is made of a picture: decoded in that form, and transformed as that says.
    /// - Returns: nil for pixels in memory of the host's, which are for one caller; the very key for what is as stored.
    package static func key(of original: String, as form: PixelForm) -> String? {
        guard form.memory.owner == .library else { return nil }
        var parts: [String] = []
        if let thumbnail = thumbnail(form.size) { parts.append(thumbnail) }
        if let rest = rest(form) { parts.append(rest) }
        if let transforms = form.transforms { parts.append(transforms.key) }
        return parts.isEmpty ? original : insert("-" + parts.joined(separator: "-"), into: original)
    }

    /// nil if it is of any size. Six decimals, for there it is a pair of floating-point numbers.
    private static func thumbnail(_ size: SizeRule) -> String? {
        guard size.width > 0 || size.height > 0 else { return nil }
        return "Thumbnail({\(size.width).000000,\(size.height).000000},\(size.fit == .stretch ? 0 : 1))"
    }

    /// What of a form changes the pixels beside the two sides of a thumbnail, "Form({fill,format=3,rows=64})": only what
    /// is not as if nothing had been said, always in this order.
    private static func rest(_ form: PixelForm) -> String? {
        var parts: [String] = []
        if form.size.fit == .fill { parts.append("fill") }
        if form.size.allowsEnlarging { parts.append("enlarge") }
        if form.size.isExact { parts.append("exact") }
        if form.size.byteLimit > 0 { parts.append("bytes=\(form.size.byteLimit)") }
        // The number is SDD_PIXEL_FORMAT_ of the C header, which never changes either.
        if form.format != .rgba8 { parts.append("format=\(form.format.rawValue)") }
        if form.background != 0 { parts.append("background=" + String(form.background, radix: 16)) }
        if !form.isUpright { parts.append("stored") }
        if form.isLenient { parts.append("lenient") }
        if form.memory.rowAlignment > 1 { parts.append("rows=\(form.memory.rowAlignment)") }
        if form.frames != .access { parts.append(form.frames == .firstOnly ? "first" : "preload") }
        if let format = form.formatHint { parts.append("hint=\(format.rawValue)") }
        return parts.isEmpty ? nil : "Form({" + parts.joined(separator: ",") + "})"
    }

    /// Before the extension of the URL's path; at the end, behind query and fragment, where there is none.
    private static func insert(_ part: String, into key: String) -> String {
        guard let dot = extensionDot(of: key.utf8) else { return key + part }
        return key[..<dot] + part + key[dot...]
    }

    /// The dot in "photo.jpg", that neither begins nor ends the last name of the path.
    private static func extensionDot(of key: String.UTF8View) -> String.Index? {
        let path = key[pathStart(of: key)...].prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        let name = path.lastIndex(of: UInt8(ascii: "/")).map { path[path.index(after: $0)...] } ?? path
        guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot > name.startIndex else { return nil }
        return name.index(after: dot) < name.endIndex ? dot : nil
    }

    /// Behind "https://host", which has dots of its own; the beginning of what is no such URL.
    private static func pathStart(of key: String.UTF8View) -> String.Index {
        guard let colon = key.firstIndex(of: UInt8(ascii: ":")), key[key.index(after: colon)...].starts(with: "//".utf8)
        else { return key.startIndex }
        let authority = key[key.index(colon, offsetBy: 3)...]
        return authority.firstIndex { "/?#".utf8.contains($0) } ?? key.endIndex
    }

    private static func isBrace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "{") || byte == UInt8(ascii: "}") }
}
