package import SDDBase
import Synchronization

/// Metadata of a picture, from its encoded bytes. Immutable; callable from any thread.
package final class Metadata: Sendable {
    /// The raw values are SDD_METADATA_ of the C header.
    package enum Kind: Int32, Sendable, CaseIterable {
        case icc = 1
        case exif = 2
        case xmp = 3
    }

    private let blocks: [Kind: Result<Bytes, CoderError>]
    package let texts: [MetadataText]
    /// Bytes that the blocks and texts take.
    let byteCount: Int

    package init(of bytes: Bytes, format: ImageFormat) {
        var made = MetadataBuilder()
        withExtendedLifetime(bytes) {
            if format == .jpeg { made.readJPEG(bytes.pointer) }
            if format == .png { made.readPNG(bytes.pointer) }
        }
        blocks = made.blocks
        texts = made.texts
        byteCount =
            made.texts.reduce(0) { $0 + $1.byteCount }
            + made.blocks.values.reduce(0) { $0 + ((try? $1.get())?.count ?? 0) }
    }

    /// Returns a block of metadata.
    /// - Returns: `nil` if the picture has none of that kind.
    package func block(_ kind: Kind) throws(CoderError) -> Bytes? { try blocks[kind]?.get() }
}

extension Image {
    /// The picture's metadata, read on first use; `nil` if the image has no encoded bytes.
    package var metadata: Metadata? {
        guard let bytes, let format else { return nil }
        let isFirst = metadataPlace.known == nil
        defer { if isFirst { memoryChanged() } }
        return metadataPlace.metadata { Metadata(of: bytes, format: format) }
    }

    /// Bytes of the metadata; 0 before it has been read.
    var metadataByteCount: Int { metadataPlace.known?.byteCount ?? 0 }
}

/// Storage of a picture's metadata, once it has been read. It has no lock, since another thread might hold that during
/// a fork and leave it locked in the child. Callable from any thread.
final class MetadataPlace: Sendable {
    // Safety: it holds one reference, from when it is set, once, to the end of this object.
    private let place = Atomic<Unmanaged<Metadata>?>(nil)

    deinit { place.load(ordering: .acquiring)?.release() }

    /// The metadata; `nil` before it has been read.
    var known: Metadata? { place.load(ordering: .acquiring)?.takeUnretainedValue() }

    /// Returns the metadata, and reads it first if necessary.
    /// - Parameter read: several threads may call it concurrently; all of them get the result of the first one to
    ///   finish.
    func metadata(orRead read: () -> Metadata) -> Metadata {
        if let known = place.load(ordering: .acquiring) { return known.takeUnretainedValue() }
        let made = Unmanaged.passRetained(read())
        let (isFirst, first) = place.compareExchange(
            expected: nil, desired: made, ordering: .acquiringAndReleasing)
        guard !isFirst, let first else { return made.takeUnretainedValue() }
        made.release()
        return first.takeUnretainedValue()
    }
}

/// Collects metadata, and keeps the first block of each kind. A value.
struct MetadataBuilder {
    /// Largest block or text after unpacking, in bytes; `mostText` is the limit for all texts together.
    static let largest = 8 << 20
    static let mostText = 64 << 20
    static let mostTexts = 128

    private(set) var blocks: [Metadata.Kind: Result<Bytes, CoderError>] = [:]
    private(set) var texts: [MetadataText] = []
    /// Bytes of text that may still be added.
    private(set) var textLeft = mostText
    private var triedTexts = 0

    /// Adds a block, unless there is one of that kind.
    mutating func add(_ kind: Metadata.Kind, _ make: () throws(CoderError) -> Bytes) {
        if blocks[kind] == nil { blocks[kind] = Result(catching: make) }
    }

    mutating func add(_ kind: Metadata.Kind, copying bytes: UnsafeRawBufferPointer) {
        add(kind) { () throws(CoderError) in try Bytes.copy(bytes) }
    }

    /// Adds a text. Damaged and too large ones are left out, but count against the limits, so that many of them do not
    /// cost much.
    /// - Parameter make: receives the largest size that is allowed.
    mutating func addText(_ make: (Int) throws(CoderError) -> MetadataText) {
        guard triedTexts < Self.mostTexts, textLeft > 0 else { return }
        triedTexts += 1
        let most = min(Self.largest, textLeft)
        do throws(CoderError) {
            let text = try make(most)
            textLeft -= min(text.byteCount, textLeft)
            texts.append(text)
        } catch {
            if error.kind == .chunkTooLarge { textLeft -= most }
        }
    }
}

extension Bytes {
    static func copy(_ bytes: UnsafeRawBufferPointer) throws(CoderError) -> Bytes {
        guard let made = Bytes(copying: bytes) else { throw CoderError(.noMemory) }
        return made
    }
}
