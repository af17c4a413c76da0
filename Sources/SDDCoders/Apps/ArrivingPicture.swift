internal import SDDBase

/// A picture that an application's coder decodes while its body arrives, and what of it was shown. Used by one thread at
/// a time.
final class ArrivingPicture {
    let picture: AppPicture
    private var shownRows = 0
    private var shownBytes = 0

    init(_ coder: any AppCoder, _ task: AppDecodeTask) throws(CoderError) { picture = try AppPicture(coder, task) }

    /// Whether the decoder's frames are large enough for a task of the same coder.
    func serves(_ task: AppDecodeTask, of coder: any AppCoder) -> Bool {
        let own = picture.task.wantedSide
        return picture.coder === coder && (own == 0 || task.wantedSide != 0 && own >= task.wantedSide)
    }

    /// Records a preview.
    /// - Parameters:
    ///   - rows: its good rows; `nil` if later bytes improve all rows.
    ///   - bytes: bytes of the body that have arrived.
    /// - Returns: false if it shows nothing new.
    func shows(rows: Int?, of bytes: Int) -> Bool {
        defer { (shownRows, shownBytes) = (rows ?? 0, bytes) }
        return rows.map { $0 > shownRows } ?? (bytes > shownBytes)
    }
}

extension AppFrame {
    /// Returns the facts that a frame states, even if it has no pixels; `nil` if its numbers are invalid.
    func facts(_ format: ImageFormat) -> ImageFacts? {
        let (width, height) = pictureWidth > 0 ? (pictureWidth, pictureHeight) : (width, height)
        guard width > 0, height > 0, (0...8).contains(orientation), frameCount >= 0, loopCount >= 0 else { return nil }
        do throws(ImageFacts.Failure) {
            var facts = try ImageFacts(
                format: format, width: Int(width), height: Int(height), channels: 4, depth: 8, isProgressive: false)
            facts.frameCount = max(1, Int(frameCount))
            facts.loopCount = frameCount > 1 ? Int(loopCount) : 1
            facts.orientation = max(1, Int(orientation))
            return facts
        } catch {
            return nil
        }
    }
}
