/// ITU-T T.81, annex B: segments with a marker and a length, up to the one that describes the frame.
extension ImageFacts {
    private enum Marker {
        static let startOfImage = 0xd8
        static let endOfImage = 0xd9
        static let startOfScan = 0xda
        static let temporary = 0x01
        static let restarts = 0xd0...0xd7
        static let exif = 0xe1
        static let frames = 0xc0...0xcf
        /// Tables and an extension, among the numbers of the frames.
        static let noFrames = [0xc4, 0xc8, 0xcc]
        static let progressiveFrames = [0xc2, 0xc6, 0xca, 0xce]
    }

    static func jpeg(_ bytes: UnsafeRawBufferPointer) throws(Failure) -> ImageFacts {
        var cursor = ByteCursor(bytes)
        _ = cursor.take(2)
        var orientation: Int?
        while true {
            let marker = try nextMarker(&cursor)
            switch marker {
            case Marker.startOfImage, Marker.endOfImage, Marker.startOfScan: throw .malformed
            case Marker.temporary, Marker.restarts: continue
            default: break
            }
            guard let length = cursor.number16() else { throw .incomplete }
            guard length >= 2 else { throw .malformed }
            guard let segment = cursor.take(length - 2) else { throw .incomplete }
            if Marker.frames.contains(marker), !Marker.noFrames.contains(marker) {
                var facts = try frame(segment, isProgressive: Marker.progressiveFrames.contains(marker))
                facts.orientation = orientation ?? 1
                return facts
            }
            if marker == Marker.exif { orientation = orientation ?? ExifOrientation.inSegment(segment) }
        }
    }

    /// Whatever stands in front of it is skipped, as libjpeg does.
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

    /// B.2.2.
    private static func frame(_ segment: UnsafeRawBufferPointer, isProgressive: Bool) throws(Failure) -> ImageFacts {
        var cursor = ByteCursor(segment)
        guard let depth = cursor.number8(), let height = cursor.number16(), let width = cursor.number16(),
            let components = cursor.number8(), components > 0, segment.count == 6 + 3 * components
        else { throw .malformed }
        return try ImageFacts(
            format: .jpeg, width: width, height: height, channels: components, depth: depth,
            isProgressive: isProgressive)
    }
}
