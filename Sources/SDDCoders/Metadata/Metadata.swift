package import SDDBase
import Synchronization

/// What a picture carries beside its pixels, as its encoded bytes have it. Immutable; any thread.
package final class Metadata: Sendable {
    /// The raw values are SDD_METADATA_ of the C header.
    package enum Kind: Int32, Sendable, CaseIterable {
        case icc = 1
        case exif = 2
        case xmp = 3
    }

    private let blocks: [Kind: Result<Bytes, CoderError>]
    package let texts: [MetadataText]
    /// Of all that is kept of it.
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

    /// - Returns: nil where there is none.
    package func block(_ kind: Kind) throws(CoderError) -> Bytes? { try blocks[kind]?.get() }
}

extension Image {
    /// Read when it is asked for the first time; nil where there are no bytes.
    package var metadata: Metadata? {
        guard let bytes, let format else { return nil }
        let isFirst = metadataPlace.known == nil
        defer { if isFirst { memoryChanged() } }
        return metadataPlace.metadata { Metadata(of: bytes, format: format) }
    }

    /// 0 before it has been read.
    var metadataByteCount: Int { metadataPlace.known?.byteCount ?? 0 }
}

/// Where a picture's metadata is, once it has been read. Without a lock, which in the child of a fork somebody might
/// hold. Any thread.
final class MetadataPlace: Sendable {
    // Safety: it holds one reference, from when it is set, once, to the end of this object.
    private let place = Atomic<Unmanaged<Metadata>?>(nil)

    deinit { place.load(ordering: .acquiring)?.release() }

    /// nil before it has been read.
    var known: Metadata? { place.load(ordering: .acquiring)?.takeUnretainedValue() }

    /// - Parameter read: several threads may come to call it; all get what the first one of them has read.
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

/// Gathers metadata, of each kind the first. A value.
struct MetadataBuilder {
    /// Of one block or text when it is unpacked, and of all texts together, in bytes.
    static let largest = 8 << 20
    static let mostText = 64 << 20
    static let mostTexts = 128

    private(set) var blocks: [Metadata.Kind: Result<Bytes, CoderError>] = [:]
    private(set) var texts: [MetadataText] = []
    /// How many bytes of text there may still be.
    private(set) var textLeft = mostText
    private var triedTexts = 0

    /// Does nothing if there is one of that kind.
    mutating func add(_ kind: Metadata.Kind, _ make: () throws(CoderError) -> Bytes) {
        if blocks[kind] == nil { blocks[kind] = Result(catching: make) }
    }

    mutating func add(_ kind: Metadata.Kind, copying bytes: UnsafeRawBufferPointer) {
        add(kind) { () throws(CoderError) in try Bytes.copy(bytes) }
    }

    /// Leaves out what is damaged or too large. Those count too, so that many of them do not cost much.
    /// - Parameter make: gets the largest size that is allowed.
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
