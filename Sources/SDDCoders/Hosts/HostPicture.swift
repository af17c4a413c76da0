internal import SDDBase

/// A body on its way through a coder of the host's, frame by frame. One thread at a time.
final class HostPicture {
    private let decoder: any HostDecoder
    private let coder: any HostCoder
    private let bytes: Bytes
    private let maxPixels: Int

    /// A whole body.
    static func open(_ bytes: Bytes, with coder: any HostCoder, _ task: HostTask) throws(CoderError) -> HostPicture {
        do throws(CoderError) {
            let picture = HostPicture(try coder.open(task), coder, bytes, maxPixels: task.maxPixels)
            try picture.decoder.feed(bytes.pointer, isLast: true)
            return picture
        } catch {
            throw error.named(coder.name)
        }
    }

    private init(_ decoder: any HostDecoder, _ coder: any HostCoder, _ bytes: Bytes, maxPixels: Int) {
        self.decoder = decoder
        self.coder = coder
        self.bytes = bytes
        self.maxPixels = maxPixels
    }

    deinit {
        decoder.close()
        withExtendedLifetime((coder, bytes)) {}
    }

    /// Its pixels are lent until the next call. nil behind the last one.
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
    /// With the name of the coder it is of.
    fileprivate func named(_ coder: String) -> CoderError {
        CoderError(kind, reason.isEmpty ? "coder \(coder)" : "coder \(coder): \(reason)")
    }
}
