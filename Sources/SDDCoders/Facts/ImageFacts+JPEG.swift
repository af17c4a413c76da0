/// Reads the segments of a JPEG (ITU-T T.81, annex B), each with a marker and a length, up to the frame header.
extension ImageFacts {
    private enum Marker {
        static let startOfImage = 0xd8
        static let endOfImage = 0xd9
        static let startOfScan = 0xda
        static let temporary = 0x01
        static let restarts = 0xd0...0xd7
        static let exif = 0xe1
        static let frames = 0xc0...0xcf
        /// Markers among those of the frame headers that are none: DHT, JPG and DAC.
        static let noFrames = [0xc4, 0xc8, 0xcc]
        static let progressiveFrames = [0xc2, 0xc6, 0xca, 0xce]
    }

    static func jpeg(_ bytes: UnsafeRawBufferPointer) throws(Failure) -> ImageFacts {
        var cursor = ByteCursor(bytes)
        _ = cursor.take(2)
        var orientation: Int?
        while true {
            let (marker, length) = try nextSegment(&cursor)
            guard marker != Marker.startOfScan else { throw .malformed }
            guard let segment = cursor.take(length) else { throw .incomplete }
            if isFrame(marker) {
                var facts = try frame(segment, isProgressive: Marker.progressiveFrames.contains(marker))
                facts.orientation = orientation ?? 1
                return facts
            }
            // The first Exif segment counts, as for the metadata, also if its orientation is none.
            if marker == Marker.exif, orientation == nil, let block = segment.behind(ExifOrientation.name) {
                orientation = ExifOrientation.inBlock(block) ?? 1
            }
        }
    }

    /// Whether the first scan of a JPEG has fewer components than its frame. libjpeg then keeps all coefficients until
    /// the last scan, as for a progressive picture.
    /// - Returns: `nil` if the first scan has not arrived. True if it never can, since it is unknown what a decoder
    ///   makes of such data.
    static func hasScanForEachComponent(_ bytes: UnsafeRawBufferPointer) -> Bool? {
        var cursor = ByteCursor(bytes)
        _ = cursor.take(2)
        var components = 0
        do throws(Failure) {
            while true {
                let (marker, length) = try nextSegment(&cursor)
                if marker == Marker.startOfScan { return cursor.number8().map { $0 < components } }
                guard let segment = cursor.take(length) else { return nil }
                if isFrame(marker), segment.count > 5 { components = Int(segment[5]) }
            }
        } catch {
            return error == .incomplete ? nil : true
        }
    }

    private static func isFrame(_ marker: Int) -> Bool {
        Marker.frames.contains(marker) && !Marker.noFrames.contains(marker)
    }

    /// Returns the next marker that has a length, and how many bytes follow the length.
    private static func nextSegment(_ cursor: inout ByteCursor) throws(Failure) -> (marker: Int, length: Int) {
        while true {
            let marker = try nextMarker(&cursor)
            switch marker {
            case Marker.startOfImage, Marker.endOfImage: throw .malformed
            case Marker.temporary, Marker.restarts: continue
            default: break
            }
            guard let length = cursor.number16() else { throw .incomplete }
            guard length >= 2 else { throw .malformed }
            return (marker, length - 2)
        }
    }

    /// Returns the next marker. Bytes before it are skipped, as libjpeg does.
    private static func nextMarker(_ cursor: inout ByteCursor) throws(Failure) -> Int {
        var isAfterFill = false
        while let byte = cursor.number8() {
            if byte == 0xff {
                isAfterFill = true
            } else if isAfterFill && byte != 0 {
                return byte
            } else {
                isAfterFill = false
            }
        }
        throw .incomplete
    }

    /// Reads a frame header (B.2.2).
    private static func frame(_ segment: UnsafeRawBufferPointer, isProgressive: Bool) throws(Failure) -> ImageFacts {
        var cursor = ByteCursor(segment)
        guard let depth = cursor.number8(), let height = cursor.number16(), let width = cursor.number16(),
            let components = cursor.number8(), components > 0, segment.count == 6 + 3 * components
        else { throw .malformed }
        var facts = try ImageFacts(
            format: .jpeg, width: width, height: height, channels: components, depth: depth,
            isProgressive: isProgressive)
        (facts.coefficientBytes, facts.coefficientBytesAtAnEighth) = coefficientBytes(width, height, segment)
        return facts
    }

    /// Computes the size of libjpeg's coefficient buffers. Each component has whole blocks of 8 x 8, grouped by its
    /// sampling factors (A.1.1, A.2.4). A frame has at most 255 components of 65,535 x 65,535, so nothing overflows.
    ///
    /// At an eighth a component with the highest sampling factors is made from the means of its blocks; in addition to
    /// them there is a window of at most five rows of groups. libjpeg makes any other component from more coefficients,
    /// in order not to enlarge it afterwards.
    private static func coefficientBytes(
        _ width: Int, _ height: Int, _ frame: UnsafeRawBufferPointer
    ) -> (all: Int, atAnEighth: Int) {
        let sampling = stride(from: 7, to: frame.count, by: 3).map { index in
            (across: min(max(Int(frame[index]) >> 4, 1), 4), down: min(max(Int(frame[index]) & 15, 1), 4))
        }
        let across = sampling.map(\.across).max() ?? 1
        let down = sampling.map(\.down).max() ?? 1
        return sampling.reduce((0, 0)) { sum, factors in
            let columns = blocks(width, factors.across, of: across)
            let rows = blocks(height, factors.down, of: down)
            let all = columns * rows * blockBytes
            let isEnlarged = across % (factors.across * 2) == 0 && down % (factors.down * 2) == 0
            let means = columns * rows * 2 + columns * min(rows, 5 * factors.down) * blockBytes
            return (sum.0 + all, sum.1 + (isEnlarged ? all : means))
        }
    }

    private static let blockBytes = 64 * 2

    private static func blocks(_ side: Int, _ factor: Int, of most: Int) -> Int {
        let blocks = (side * factor + most * 8 - 1) / (most * 8)
        return (blocks + factor - 1) / factor * factor
    }
}
