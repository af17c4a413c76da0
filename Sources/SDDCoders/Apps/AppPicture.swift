internal import SDDBase

/// A body that an application's coder decodes frame by frame. Used by one thread at a time.
final class AppPicture {
    let coder: any AppCoder
    let task: AppDecodeTask
    private var decoder: any AppDecoder
    /// The body, if the decoder was fed all of it at once and may refer to it.
    private var bytes: Bytes?
    /// Bytes of the body that the decoder has been fed.
    private var fed = 0
    private var isWhole = false
    private var isClosed = false
    private var estimated: Needs?

    /// What decoding a picture takes, as far as its coder has told.
    struct Needs {
        /// Size of the picture; 0 if it is unknown.
        var width = 0
        var height = 0
        /// Bytes that the decoder takes at most, its frames included; `nil` if it is unknown.
        var bytes: Int?
    }

    /// Opens a decoder for a whole body.
    static func open(_ bytes: Bytes, with coder: any AppCoder, _ task: AppDecodeTask) throws(CoderError) -> AppPicture {
        let picture = try AppPicture(coder, task)
        picture.bytes = bytes
        try picture.feed(bytes, isLast: true)
        return picture
    }

    /// Opens a decoder for a body that is still arriving.
    init(_ coder: any AppCoder, _ task: AppDecodeTask) throws(CoderError) {
        self.coder = coder
        self.task = task
        do throws(CoderError) { decoder = try coder.opened(task) } catch { throw error.told(by: coder, task) }
    }

    deinit {
        close()
        withExtendedLifetime((coder, bytes)) {}
    }

    /// Frees the decoder. No other function may be called after that.
    func close() {
        if isClosed { return }
        isClosed = true
        decoder.close()
    }

    /// Feeds the decoder with what has arrived since the last call.
    /// - Parameters:
    ///   - bytes: the body from its first byte on.
    ///   - isLast: true if these are all bytes.
    func feed(_ bytes: Bytes, isLast: Bool) throws(CoderError) {
        guard !isWhole, bytes.count > fed || isLast else { return }
        if decoder.isLost { try reopen() }
        let piece = UnsafeRawBufferPointer(rebasing: bytes.pointer[min(fed, bytes.count)...])
        (fed, isWhole) = (bytes.count, isLast)
        do throws(CoderError) {
            try withExtendedLifetime(bytes) { () throws(CoderError) in try decoder.feed(piece, isLast: isLast) }
        } catch {
            throw error.told(by: coder, task)
        }
    }

    private func reopen() throws(CoderError) {
        do throws(CoderError) {
            let another = try coder.opened(task)
            decoder.close()
            (decoder, fed) = (another, 0)
        } catch {
            throw error.told(by: coder, task)
        }
    }

    /// Returns what the picture takes, before it is decoded.
    /// - Returns: `nil` if the bytes so far are too few to tell.
    func needs() throws(CoderError) -> Needs? {
        if let estimated { return estimated }
        do throws(CoderError) {
            switch try decoder.estimate() {
            case .unknown: estimated = Needs()
            case .incomplete: break
            case .known(let width, let height, let bytes):
                guard width > 0, height > 0, bytes >= 0 else {
                    throw CoderError(.coder, "an estimate of \(bytes) bytes for \(width) x \(height) pixels")
                }
                // What is drawn has the size that is wanted.
                if !coder.draws {
                    try PixelBuffer.check(width: UInt32(width), height: UInt32(height), maxPixels: task.maxPixels)
                }
                estimated = Needs(width: Int(width), height: Int(height), bytes: Int(bytes))
            }
        } catch {
            throw error.told(by: coder, task)
        }
        return estimated
    }

    /// Sets the size of the frames of a coder that draws, and forgets what the picture takes.
    func resize(width: Int, height: Int) throws(CoderError) {
        do throws(CoderError) {
            guard PixelBuffer.mayBeMade(width, height, maxPixels: task.maxPixels) else {
                throw CoderError(.tooManyPixels, "\(width) x \(height) pixels")
            }
            try decoder.resize(width: width, height: height)
        } catch {
            throw error.told(by: coder, task)
        }
        estimated = nil
    }

    /// Shows what the decoder has made of the bytes so far.
    func preview() throws(CoderError) -> AppPreview {
        do throws(CoderError) { return try decoder.preview() } catch { throw error.told(by: coder, task) }
    }

    /// Checks a frame of `preview`.
    func checked(_ frame: AppFrame) throws(CoderError) -> CheckedFrame {
        do throws(CoderError) {
            return try CheckedFrame(frame, maxPixels: task.maxPixels, isDrawn: coder.draws)
        } catch {
            throw error.told(by: coder, task)
        }
    }

    /// Returns the next frame, or `nil` after the last one. Its pixels are borrowed until the next call.
    func next() throws(CoderError) -> CheckedFrame? {
        do throws(CoderError) {
            switch try decoder.next() {
            case .frame(let frame):
                return try CheckedFrame(frame, maxPixels: task.maxPixels, isDrawn: coder.draws)
            case .incomplete: throw CoderError(.truncated)
            case .end: return nil
            }
        } catch {
            throw error.told(by: coder, task)
        }
    }
}

extension AppCoder {
    /// Opens a decoder, by a helper if the task says so.
    fileprivate func opened(_ task: AppDecodeTask) throws(CoderError) -> any AppDecoder {
        guard let helpers = task.helpers, let object else { return try open(task) }
        return IsolatedAppDecoder(helpers, object, task)
    }
}

extension CoderError {
    /// Returns the error with the name of the coder in its reason.
    fileprivate func told(by coder: any AppCoder, _ task: AppDecodeTask) -> CoderError {
        let error = if kind == .tooManyPixels, let excess = task.excess { excess } else { self }
        let reason = error.reason.isEmpty ? "" : ": \(error.reason)"
        return CoderError(error.kind, "coder \(coder.name)\(reason)")
    }
}
