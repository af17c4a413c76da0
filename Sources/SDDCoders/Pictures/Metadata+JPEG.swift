internal import SDDBase

/// Reads application segments and comments before the first scan (ITU-T T.81, annex B).
extension MetadataBuilder {
    mutating func readJPEG(_ bytes: UnsafeRawBufferPointer) {
        var profile = ProfileParts()
        for segment in JPEGSegments(bytes) {
            switch segment.marker {
            case JPEGSegments.app1: addApplication(segment.data)
            case JPEGSegments.app2: profile.take(segment.data)
            case JPEGSegments.comment: addComment(segment.data)
            default: break
            }
        }
        if !profile.isEmpty { add(.icc) { () throws(CoderError) in try profile.joined() } }
    }

    /// Reads Exif (CIPA DC-008, 4.5.4) and XMP (ISO 16684-3), which begin with a name.
    private mutating func addApplication(_ data: UnsafeRawBufferPointer) {
        if let block = data.behind(ExifOrientation.name) {
            add(.exif, copying: block)
        } else if let packet = data.behind("http://ns.adobe.com/xap/1.0/\0") {
            add(.xmp, copying: packet)
        }
    }

    /// Adds a comment. T.81 does not define its encoding. Some comments end with a NUL.
    private mutating func addComment(_ data: UnsafeRawBufferPointer) {
        let count = data.lastIndex { $0 != 0 }.map { $0 + 1 } ?? 0
        let text = UnsafeRawBufferPointer(rebasing: data.prefix(count))
        addText { most throws(CoderError) in
            guard text.count <= most else { throw CoderError(.chunkTooLarge) }
            let keyword: StaticString = "Comment"
            return try MetadataText(
                keyword: UnsafeRawBufferPointer(start: keyword.utf8Start, count: keyword.utf8CodeUnitCount), text: text,
                isUTF8: true)
        }
    }
}

/// The parts of an ICC profile. One that is too large for a segment is split into several, each with its number, from
/// 1, and the number of parts (ICC.1, B.4). Of parts with the same number the first counts, as in browsers.
struct ProfileParts {
    private var parts: [Int: UnsafeRawBufferPointer] = [:]
    private var count: Int?
    private var isConsistent = true

    var isEmpty: Bool { count == nil }

    mutating func take(_ data: UnsafeRawBufferPointer) {
        guard let rest = data.behind("ICC_PROFILE\0") else { return }
        var cursor = ByteCursor(rest)
        let number = cursor.number8() ?? 0, count = cursor.number8() ?? 0
        isConsistent = isConsistent && count == self.count ?? count
        self.count = count
        guard parts[number] == nil else { return }
        parts[number] = cursor.takeRest()
    }

    /// Returns the whole profile.
    /// - Throws: `.corrupt` if a part is missing, or parts differ in how many there are.
    func joined() throws(CoderError) -> Bytes {
        guard isConsistent, let count, count > 0, Set(parts.keys) == Set(1...count) else {
            throw CoderError(.corrupt)
        }
        let made = ByteBuilder()
        for number in 1...count {
            guard let part = parts[number], let start = part.baseAddress else { continue }
            guard made.append(start, count: part.count) else { throw CoderError(.noMemory) }
        }
        return made.take()
    }
}
