package import SDDBase

internal import CPNG

/// The PNG format, in all variants of the specification.
package struct PNGCoder: ImageCoding {
    package init() {}

    package var format: ImageFormat { .png }

    package func makeReader(_ task: DecodeTask) throws(CoderError) -> any PictureReading { try PNGReader(task) }

    package func frames(
        of bytes: Bytes, limits: DecodeLimits, isWhole: Bool, isDeep: Bool
    ) -> (any FrameSource)? {
        APNGAnimation(bytes, limits: limits, isWhole: isWhole, isDeep: isDeep)
    }
}

/// Decodes a PNG with the system's libpng. 16 bits per channel are scaled to 8 where 8 are requested; no gamma is
/// applied. Callable from any thread, by one thread at a time.
///
/// A PNG is good if it is complete up to the end of its IEND chunk, and if the checksums of all chunks that affect
/// pixels are right. Other chunks, such as texts and profiles, may be damaged; data after IEND may be arbitrary.
final class PNGReader: PictureReading {
    // Safety: created in `init`, destroyed in `deinit`, and used only by this object.
    private let decoder: OpaquePointer
    private let task: DecodeTask
    /// The bytes that the shim reads until it is given others or ended.
    private var bytes: Bytes?
    private var target: Target?
    /// Number of rows or passes that the last preview showed.
    private var shown = 0
    private(set) var goodRows: Int?

    /// Destination of the pixels. An interlaced picture arrives in several passes, so all of it is kept even if it is
    /// to be made smaller.
    private enum Target {
        case whole(PixelBuffer)
        case passes(PixelBuffer, Reduction?)
        case reduced(AreaReducer)
    }

    init(_ task: DecodeTask) throws(CoderError) {
        guard let decoder = sddp_create() else { throw CoderError(.noMemory) }
        self.decoder = decoder
        self.task = task
        let time = task.limits.microseconds
        sddp_open(decoder, time.base, time.perMiB)
    }

    deinit { sddp_destroy(decoder) }

    func read(_ bytes: Bytes, isLast: Bool) throws(CoderError) -> PixelBuffer? {
        sddp_give(decoder, bytes.pointer.baseAddress, bytes.count, isLast)
        self.bytes = bytes
        if target == nil {
            var header = sddp_header()
            guard try isDone(sddp_read_header(decoder, &header)) else { return nil }
            target = try makeTarget(header)
        }
        guard let target else { return nil }
        do throws(CoderError) {
            guard try isDone(decode(to: target)) else { return nil }
        } catch {
            return try settled(target, error)
        }
        sddp_end(decoder)
        self.bytes = nil
        return try pixels(of: target)
    }

    private func decode(to target: Target) -> sddp_status {
        switch target {
        // Safety: `pixels` has as many rows, of as many bytes, as the header told and these formats take.
        case .whole(let pixels), .passes(let pixels, _):
            sddp_decode(decoder, pixels.base, pixels.stride, Self.layout(of: pixels.format))
        case .reduced(let reducer):
            reducer.takeRows { sddp_decode_rows(decoder, Self.layout(of: reducer.target.format), $0, $1) }
        }
    }

    /// Accepts the rows above the damage, or the first passes of an interlaced picture, if that is allowed and there
    /// are any; else throws the error.
    private func settled(_ target: Target, _ error: CoderError) throws(CoderError) -> PixelBuffer {
        guard task.isLenient, error.kind == .corrupt || error.kind == .truncated else { throw error }
        let pixels: PixelBuffer
        switch target {
        case .passes(let whole, _):
            guard sddp_passes(decoder) > 0 else { throw error }
            pixels = try self.pixels(of: target)
            goodRows = Int(sddp_rows(decoder)) * pixels.height / whole.height
        case .whole(let whole):
            let rows = Int(sddp_rows(decoder))
            guard rows > 0 else { throw error }
            pixels = whole
            pixels.clear(from: rows)
            goodRows = rows
        case .reduced(let reducer):
            guard reducer.rowsMade > 0 else { throw error }
            pixels = reducer.target
            pixels.clear(from: reducer.rowsMade)
            goodRows = reducer.rowsMade
        }
        return pixels
    }

    private func pixels(of target: Target) throws(CoderError) -> PixelBuffer {
        switch target {
        case .whole(let pixels): return pixels
        case .passes(let pixels, let reduction):
            return try reduction?.reduce(pixels, in: task.memory(for: pixels.format)) ?? pixels
        case .reduced(let reducer): return reducer.target
        }
    }

    /// Converts a status of the shim.
    /// - Returns: false if more bytes are needed.
    private func isDone(_ status: sddp_status) throws(CoderError) -> Bool {
        guard let kind = CoderError.Kind(status) else { return status == SDDP_OK }
        throw CoderError(kind, String(cString: sddp_message(decoder)))
    }
}

// MARK: - Destination of the pixels

extension PNGReader {
    private func makeTarget(_ header: sddp_header) throws(CoderError) -> Target {
        let plan = try task.plan(width: header.width, height: header.height)
        guard plan.isWhole else { return try makeReduced(header, plan) }
        let format = Self.output(for: task.wanted, header)
        let pixels = try PixelBuffer.make(
            width: Int(header.width), height: Int(header.height), format, in: task.memory(for: format))
        return header.is_interlaced ? .passes(Self.begun(pixels), nil) : .whole(pixels)
    }

    private func makeReduced(_ header: sddp_header, _ plan: SizePlan) throws(CoderError) -> Target {
        let (width, height, format) = (Int(header.width), Int(header.height), task.wanted.source)
        let reduction = Reduction(
            width: width, height: height, plan: plan, storedWidth: width, storedHeight: height, format: format,
            isOpaque: !header.has_alpha)
        if header.is_interlaced {
            return .passes(Self.begun(try PixelBuffer.make(width: width, height: height, format)), reduction)
        }
        return .reduced(try reduction.makeReducer(in: task.memory(for: format)))
    }

    /// Clears the pixels of an interlaced picture, since its first pass writes only one pixel of each block of 8 x 8.
    private static func begun(_ pixels: PixelBuffer) -> PixelBuffer {
        pixels.clear(from: 0)
        return pixels
    }

    /// Returns the format that libpng writes. In an opaque picture the premultiplied formats are the same as the
    /// others.
    private static func output(for wanted: PixelFormat, _ header: sddp_header) -> PixelFormat {
        switch wanted {
        case .rgba8, .bgra8, .rgba16: wanted
        case .rgba8Premultiplied, .bgra8Premultiplied, .rgba16Premultiplied, .rgb8:
            header.has_alpha ? wanted.source : wanted
        case .grey8: header.has_alpha || !header.is_grey ? .rgba8 : wanted
        case .rgb8Planar: .rgba8
        }
    }

    private static func layout(of format: PixelFormat) -> sddp_layout {
        switch format {
        case .rgba8, .rgba8Premultiplied, .rgb8Planar: SDDP_RGBA
        case .bgra8, .bgra8Premultiplied: SDDP_BGRA
        case .rgb8: SDDP_RGB
        case .grey8: SDDP_GREY
        case .rgba16, .rgba16Premultiplied: SDDP_RGBA16
        }
    }
}

// MARK: - Previews

extension PNGReader {
    func preview(afterScans: Int) throws(CoderError) -> Preview? {
        switch target {
        case nil: return nil
        case .whole(let pixels): return try rowsPreview(Int(sddp_rows(decoder)), of: pixels, afterScans)
        case .reduced(let reducer): return try rowsPreview(reducer.rowsMade, of: reducer.target, afterScans)
        case .passes(let pixels, let reduction):
            let passes = Int(sddp_passes(decoder))
            guard passes > 0, shown == 0 || passes - shown >= afterScans else { return nil }
            shown = passes
            let made = if let reduction { try reduction.reduce(pixels) } else { try pixels.copy(rows: pixels.height) }
            return Preview(pixels: made, goodRows: made.height)
        }
    }

    private func rowsPreview(_ rows: Int, of pixels: PixelBuffer, _ scans: Int) throws(CoderError) -> Preview? {
        guard rows > 0, rows > shown || scans == 0 else { return nil }
        shown = rows
        return Preview(pixels: try pixels.copy(rows: rows), goodRows: rows)
    }
}
