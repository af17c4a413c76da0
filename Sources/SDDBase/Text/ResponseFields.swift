import Glibc

/// The header fields of a response in the order they came, in one block: "name NUL value NUL" for each, followed by the
/// media type in lower case and NUL. A value type that shares its storage.
package struct ResponseFields: Sendable {
    private let block: Bytes?
    package let count: Int
    /// The offset at which the media type begins.
    private let end: Int

    package init() {
        block = nil
        count = 0
        end = 0
    }

    fileprivate init(block: Bytes, count: Int, end: Int) {
        self.block = block
        self.count = count
        self.end = end
    }

    /// A text that is valid while this value, or a copy of it, lives.
    package typealias Text = UnsafePointer<CChar>

    package func at(_ index: Int) -> (name: Text, value: Text)? {
        guard index >= 0, index < count, var place = text(at: 0) else { return nil }
        for _ in 0..<index { place = Self.after(Self.after(place)) }
        return (place, Self.after(place))
    }

    /// Returns the value of the first field of that name, compared without regard to case.
    package func value(of name: Text) -> Text? {
        guard var place = text(at: 0) else { return nil }
        for _ in 0..<count {
            let value = Self.after(place)
            // RFC 9110 §5.1. Names are tokens and so ASCII, whatever the locale.
            if strcasecmp(place, name) == 0 { return value }
            place = Self.after(value)
        }
        return nil
    }

    package subscript(name: String) -> String? {
        name.withCString { value(of: $0).map { String(cString: $0) } }
    }

    /// The media type, such as "image/jpeg"; "" if the response names none. It ends with NUL.
    package var mimeTypeText: Text? { text(at: end) }
    package var mimeType: String { mimeTypeText.map { String(cString: $0) } ?? "" }

    private func text(at offset: Int) -> Text? {
        // Safety: the block is immutable, and every text in it ends with NUL.
        block?.pointer.baseAddress.map { ($0 + offset).assumingMemoryBound(to: CChar.self) }
    }

    private static func after(_ text: Text) -> Text { text + strlen(text) + 1 }
}

/// Builds the block of a `ResponseFields`. Use it on one thread at a time.
package struct ResponseFieldsBuilder {
    private var block = ByteBuilder()
    private var count = 0
    /// The offset of the first Content-Type's value.
    private var contentType: Int?
    /// True while the last value has no NUL yet, because a continuation line may follow.
    private var isOpen = false

    package init() {}

    /// - Returns: false when there is no memory.
    package mutating func append(name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) -> Bool {
        guard close() else { return false }
        if contentType == nil, Self.isContentType(name) { contentType = block.count + name.count + 1 }
        count += 1
        isOpen = true
        let (name, value) = (Self.text(name), Self.text(value))
        guard let place = block.grow(by: name.count + 1 + value.count) else { return false }
        if let base = name.baseAddress { memcpy(place, base, name.count) }
        place.storeBytes(of: 0, toByteOffset: name.count, as: UInt8.self)
        if let base = value.baseAddress { memcpy(place + name.count + 1, base, value.count) }
        return true
    }

    /// Appends a continuation line to the last value, separated by one space (RFC 9112 §5.2).
    package mutating func extendValue(_ text: UnsafeRawBufferPointer) -> Bool {
        guard isOpen else { return true }
        var space = UInt8(ascii: " ")
        return block.append(&space, count: 1) && appendText(text)
    }

    private mutating func close() -> Bool {
        guard isOpen else { return true }
        isOpen = false
        return appendEnd()
    }

    private mutating func appendText(_ text: UnsafeRawBufferPointer) -> Bool {
        let text = Self.text(text)
        return text.baseAddress.map { block.append($0, count: text.count) } ?? true
    }

    /// Cuts a text at its first NUL, since NUL ends it in the block. libcurl does not let any through.
    private static func text(_ text: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        guard let base = text.baseAddress, let end = memchr(base, 0, text.count) else { return text }
        return UnsafeRawBufferPointer(start: base, count: UnsafeRawPointer(end) - base)
    }

    private mutating func appendEnd() -> Bool {
        var end: UInt8 = 0
        return block.append(&end, count: 1)
    }

    private static func isContentType(_ name: UnsafeRawBufferPointer) -> Bool {
        let expected: StaticString = "content-type"
        return name.count == expected.utf8CodeUnitCount
            && (0..<name.count).allSatisfy { name[$0] | 0x20 == expected.utf8Start[$0] }
    }

    /// Returns the fields and leaves the builder empty.
    package mutating func take() -> ResponseFields {
        defer {
            count = 0
            contentType = nil
        }
        guard close() else {
            block = ByteBuilder()
            return ResponseFields()
        }
        let end = block.count
        guard appendMimeType(), appendEnd() else {
            block = ByteBuilder()
            return ResponseFields()
        }
        return ResponseFields(block: block.take(), count: count, end: end)
    }

    /// Appends the media type without its parameters, in lower case (RFC 9110 §8.3.1).
    private mutating func appendMimeType() -> Bool {
        guard let contentType else { return true }
        var at = contentType
        while let byte = block[at], byte != 0, byte != UInt8(ascii: ";"), byte != UInt8(ascii: " "),
            byte != UInt8(ascii: "\t")
        {
            var lower = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
            guard block.append(&lower, count: 1) else { return false }
            at += 1
        }
        return true
    }
}
