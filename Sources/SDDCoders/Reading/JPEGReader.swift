internal import SDDBase

internal import CJPEG

/// The JPEG format: baseline and progressive, Huffman and arithmetic coding, 8 bits.
package struct JPEGCoder: ImageCoding {
    package init() {}

    package var format: ImageFormat { .jpeg }

    package func makeReader(_ task: DecodeTask) throws(CoderError) -> any PictureReading { try JPEGReader(task) }
}

/// Turns a JPEG into pixels with the system's libjpeg, the very pixels of libjpeg's defaults. Any thread,
/// one at a time.
///
/// A JPEG is good when every pixel is there. It is `.corrupt` or `.truncated` when libjpeg had to make up
/// pixels, and also when it made up none but a scan of a picture in several scans was lost. What comes
/// after the last pixel may be missing, the end marker included, or be anything at all. Of arithmetic coding the end
/// marker must be there: without it nobody can tell whether the last scan is whole. In a picture made smaller,
/// scans that bring nothing but detail that it does not have are passed over, if it has its end marker.
final class JPEGReader: PictureReading {
    // Safety: made by `init`, destroyed by `deinit`, and used by nobody else.
    private let decoder: OpaquePointer
    private let task: DecodeTask
    /// Read by the shim until the next ones, or its end.
    private var bytes: Bytes?
    private var target: Target?
    private var hasScans = false
    /// Rows, or scans.
    private var shown = 0
    private var underway: Target?
    private(set) var goodRows: Int?

    /// Where the pixels go: as libjpeg writes them, or made smaller than that.
    private enum Target {
        case whole(PixelBuffer, sddj_layout)
        case reduced(AreaReducer, Reduction)

        var pixels: PixelBuffer {
            switch self {
            case .whole(let pixels, _): pixels
            case .reduced(let reducer, _): reducer.target
            }
        }
    }

    init(_ task: DecodeTask) throws(CoderError) {
        guard let decoder = sddj_create() else { throw CoderError(.noMemory) }
        self.decoder = decoder
        self.task = task
        var rules = sddj_rules()
        rules.max_scans = task.limits.maxScans
        (rules.max_microseconds, rules.microseconds_per_mib) = task.limits.microseconds
        rules.is_lenient = task.isLenient
        sddj_open(decoder, &rules)
    }

    deinit { sddj_destroy(decoder) }

    func read(_ bytes: Bytes, isLast: Bool) throws(CoderError) -> PixelBuffer? {
        sddj_give(decoder, bytes.pointer.baseAddress, bytes.count, isLast)
        self.bytes = bytes
        if target == nil {
            var header = sddj_header()
            guard try isDone(sddj_read_header(decoder, &header)) else { return nil }
            hasScans = header.has_scans
            target = try makeTarget(header)
        }
        guard let target else { return nil }
        do throws(CoderError) {
            guard try isDone(decode(to: target)) else { return nil }
            if sddj_is_partial(decoder) { goodRows = target.pixels.height }
        } catch {
            try settle(for: target, error)
        }
        sddj_end(decoder)
        self.bytes = nil
        return target.pixels
    }

    func isEnded(by body: Bytes) -> Bool { sddj_is_ended(decoder, body.pointer.baseAddress, body.count) }

    private func decode(to target: Target) -> sddj_status {
        switch target {
        // Safety: `pixels` has as many rows, of as many bytes, as the header told and the layout takes.
        case .whole(let pixels, let layout): sddj_decode(decoder, pixels.base, pixels.stride, layout)
        case .reduced(let reducer, _): reducer.takeRows { sddj_decode_rows(decoder, $0, $1) }
        }
    }

    /// Above the damage there may be something.
    private func settle(for target: Target, _ error: CoderError) throws(CoderError) {
        let rows = rowsMade(in: target)
        guard task.isLenient, error.kind == .corrupt || error.kind == .truncated, rows > 0 else { throw error }
        target.pixels.clear(from: rows)
        goodRows = rows
    }

    private func rowsMade(in target: Target) -> Int {
        switch target {
        case .whole: Int(sddj_rows(decoder))
        case .reduced(let reducer, _): reducer.rowsMade
        }
    }

    /// - Returns: false: there is not enough yet.
    private func isDone(_ status: sddj_status) throws(CoderError) -> Bool {
        guard let kind = CoderError.Kind(status) else { return status == SDDJ_OK }
        throw CoderError(kind, String(cString: sddj_message(decoder)))
    }
}

// MARK: - Where the pixels go

extension JPEGReader {
    private func makeTarget(_ header: sddj_header) throws(CoderError) -> Target {
        let plan = try task.plan(width: header.width, height: header.height)
        guard plan.isWhole else { return try makeReduced(header, plan) }
        let (format, layout) = Self.output(for: task.wanted, header.colours)
        let pixels = try PixelBuffer.make(
            width: Int(header.width), height: Int(header.height), format, in: task.memory(for: format))
        return .whole(pixels, layout)
    }

    /// libjpeg makes it smaller by halves, which saves most of its work, and the rest is done by area. At a half, a
    /// quarter and an eighth its pixels are means of those that they stand for; at the eighths between they are not, and
    /// take it as long as the next half. What is to be larger it leaves as it is.
    private func makeReduced(_ header: sddj_header, _ plan: SizePlan) throws(CoderError) -> Target {
        let (storedWidth, storedHeight) = (Int(header.width), Int(header.height))
        let least = (
            Double(plan.width) * Double(storedWidth) / plan.partWidth,
            Double(plan.height) * Double(storedHeight) / plan.partHeight
        )
        var (width, height): (UInt32, UInt32) = (header.width, header.height)
        let eighths = (task.isExact ? [] : [1, 2, 4]).first { eighths in
            Double((storedWidth * eighths + 7) / 8) >= least.0 && Double((storedHeight * eighths + 7) / 8) >= least.1
        }
        _ = try isDone(sddj_scale(decoder, UInt32(eighths ?? 8), &width, &height))
        let reduction = Reduction(
            width: Int(width), height: Int(height), plan: plan, storedWidth: storedWidth, storedHeight: storedHeight,
            format: .rgba8, isOpaque: true)
        return .reduced(try reduction.makeReducer(in: task.memory(for: .rgba8)), reduction)
    }

    /// Nothing shows through a JPEG: with alpha multiplied in and without are the same.
    private static func output(for wanted: PixelFormat, _ colours: sddj_colours) -> (PixelFormat, sddj_layout) {
        switch wanted {
        case .rgba8, .rgba8Premultiplied: (wanted, SDDJ_RGBA)
        case .bgra8, .bgra8Premultiplied: colours == SDDJ_INKS ? (.rgba8, SDDJ_RGBA) : (wanted, SDDJ_BGRA)
        case .rgb8: colours == SDDJ_INKS ? (.rgba8, SDDJ_RGBA) : (wanted, SDDJ_RGB)
        case .grey8: colours == SDDJ_GREY ? (wanted, SDDJ_Y) : (.rgba8, SDDJ_RGBA)
        case .rgba16, .rgba16Premultiplied, .rgb8Planar: (.rgba8, SDDJ_RGBA)
        }
    }
}

// MARK: - Previews

extension JPEGReader {
    func preview(afterScans: Int) throws(CoderError) -> Preview? {
        guard let target else { return nil }
        if hasScans { return try scanPreview(like: target, afterScans) }
        let rows = rowsMade(in: target)
        guard rows > 0, rows > shown || afterScans == 0 else { return nil }
        shown = rows
        return Preview(pixels: try target.pixels.copy(rows: rows), goodRows: rows)
    }

    /// Of all scans that are complete; nobody has written to its memory before. The first takes several calls, as it
    /// comes.
    private func scanPreview(like target: Target, _ scans: Int) throws(CoderError) -> Preview? {
        let complete = Int(sddj_scans(decoder))
        guard shown == 0 || complete - shown >= scans else { return nil }
        let preview: Target
        if let underway { preview = underway } else { preview = try makePreview(like: target) }
        underway = preview
        let status =
            switch preview {
            case .whole(let pixels, _): sddj_preview(decoder, pixels.base, pixels.stride)
            case .reduced(let reducer, _): reducer.takeRows { sddj_preview_rows(decoder, $0, $1) }
            }
        guard try isDone(status) else { return nil }
        underway = nil
        shown = max(1, complete)
        return Preview(pixels: preview.pixels, goodRows: finalRows(of: preview))
    }

    /// In a picture that is not progressive, but has a scan for each component, few rows or none are as they will stay.
    private func finalRows(of preview: Target) -> Int {
        let rows = Int(sddj_final_preview_rows(decoder))
        return switch preview {
        case .whole: rows
        case .reduced(let reducer, _): reducer.rows(madeOf: rows)
        }
    }

    private func makePreview(like target: Target) throws(CoderError) -> Target {
        switch target {
        case .whole(let whole, let layout):
            .whole(try PixelBuffer.make(width: whole.width, height: whole.height, whole.format), layout)
        case .reduced(_, let reduction): .reduced(try reduction.makeReducer(), reduction)
        }
    }
}
