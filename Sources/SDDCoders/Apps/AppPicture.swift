internal import SDDBase

/// A body that an application's coder decodes frame by frame. Used by one thread at a time.
final class AppPicture {
    private let decoder: any AppDecoder
    private let coder: any AppCoder
    private let bytes: Bytes
    private let maxPixels: Int

    /// Opens a decoder for a whole body.
    static func open(_ bytes: Bytes, with coder: any AppCoder, _ task: AppDecodeTask) throws(CoderError) -> AppPicture {
        do throws(CoderError) {
            let picture = AppPicture(try coder.open(task), coder, bytes, maxPixels: task.maxPixels)
            try picture.decoder.feed(bytes.pointer, isLast: true)
            return picture
        } catch {
            throw error.named(coder.name)
        }
    }

    private init(_ decoder: any AppDecoder, _ coder: any AppCoder, _ bytes: Bytes, maxPixels: Int) {
        self.decoder = decoder
        self.coder = coder
        self.bytes = bytes
        self.maxPixels = maxPixels
    }

    deinit {
        decoder.close()
        withExtendedLifetime((coder, bytes)) {}
    }

    /// Returns the next frame, or `nil` after the last one. Its pixels are borrowed until the next call.
    func next() throws(CoderError) -> CheckedFrame? {
        do throws(CoderError) {
            switch try decoder.next() {
            case .frame(let frame): return try CheckedFrame(frame, maxPixels: maxPixels)
            case .incomplete: throw CoderError(.truncated)
            case .end: return nil
            }
        } catch {
            throw error.named(coder.name)
        }
    }
}

extension CoderError {
    /// Returns the error with the name of the coder in its reason.
    fileprivate func named(_ coder: String) -> CoderError {
        CoderError(kind, reason.isEmpty ? "coder \(coder)" : "coder \(coder): \(reason)")
    }
}
