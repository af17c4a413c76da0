/// The segments of a JPEG that have a marker and a length (ITU-T T.81, annex B), before its first scan, as far as there
/// are bytes.
struct JPEGSegments: Sequence, IteratorProtocol {
    struct Segment {
        let marker: Int
        /// The segment's bytes after the length.
        let data: UnsafeRawBufferPointer
    }

    static let app1 = 0xe1
    static let app2 = 0xe2
    static let comment = 0xfe

    private var cursor: ByteCursor

    init(_ bytes: UnsafeRawBufferPointer) {
        cursor = ByteCursor(bytes)
        // SOI has no length.
        _ = cursor.take(2)
    }

    mutating func next() -> Segment? {
        while let marker = nextMarker() {
            // SOI, EOI and SOS end the iteration. Markers without a length are skipped: the restart markers and TEM.
            if (0xd8...0xda).contains(marker) { return nil }
            if (0xd0...0xd7).contains(marker) || marker == 0x01 { continue }
            guard let length = cursor.number16(), length >= 2, let data = cursor.take(length - 2) else { return nil }
            return Segment(marker: marker, data: data)
        }
        return nil
    }

    /// Returns the next marker. Bytes before it are skipped, as libjpeg does.
    private mutating func nextMarker() -> Int? {
        var isAfterFill = false
        while let byte = cursor.number8() {
            if isAfterFill, byte != 0, byte != 0xff { return byte }
            isAfterFill = byte == 0xff
        }
        return nil
    }
}
