internal import SDDBase

internal import CJPEG

/// The JPEG format: baseline and progressive, Huffman and arithmetic coding, 8 bits.
package struct JPEGCoder: ImageCoding {
    package init() {}

    package var format: ImageFormat { .jpeg }

    package func makeReader(_ task: DecodeTask) throws(CoderError) -> any PictureReading { try JPEGReader(task) }
}

/// Decodes a JPEG with the system's libjpeg, to the exact pixels of libjpeg's defaults. Callable from any thread, by
/// one thread at a time.
///
/// A JPEG is good if every pixel is present. It is `.corrupt` or `.truncated` if libjpeg had to invent pixels, and also
/// if it invented none, but a scan of a picture with several scans was lost. Data after the last pixel, including the
/// end marker, may be missing or arbitrary. With arithmetic coding the end marker must be present, since otherwise it
/// is impossible to tell whether the last scan is complete. For a smaller picture, scans that carry only detail it does
/// not have are skipped, if the end marker is present.
final class JPEGReader: PictureReading {
    // Safety: created in `init`, destroyed in `deinit`, and used only by this object.
    private let decoder: OpaquePointer
    private let task: DecodeTask
    /// The bytes that the shim reads until it is given others or ended.
    private var bytes: Bytes?
    private var target: Target?
    private var hasScans = false
    /// Number of rows or scans that the last preview showed.
    private var shown = 0
    private var underway: Target?
    private(set) var goodRows: Int?

    /// Pixels as libjpeg writes them.
    private final class Whole {
        let width: Int
        let height: Int
        let format: PixelFormat
        let layout: sddj_layout
        /// `nil` until the first row can be written.
        private(set) var pixels: PixelBuffer?

        init(width: Int, height: Int, _ format: PixelFormat, _ layout: sddj_layout) {
            (self.width, self.height, self.format, self.layout) = (width, height, format, layout)
        }

        func makePixels(in memory: PixelMemory) throws(CoderError) {
            pixels = try PixelBuffer.make(width: width, height: height, format, in: memory)
        }
    }

    /// Destination of the pixels: as libjpeg writes them, or reduced further.
    private enum Target {
        case whole(Whole)
        case reduced(AreaReducer, Reduction)

        /// The pixels, once there is memory for them.
        var pixels: PixelBuffer? {
            switch self {
            case .whole(let whole): whole.pixels
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
        rules.drops_scans = task.dropsScans
        rules.keeps_inks = task.keepsInks
        rules.memory = Self.memory
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
        do throws(CoderError) {
            guard try decode() else { return nil }
            if sddj_is_partial(decoder), let target { goodRows = rows(sddj_good_rows(decoder), in: target) }
        } catch {
            try settle(error)
        }
        sddj_end(decoder)
        self.bytes = nil
        return target?.pixels
    }

    func isEnded(by body: Bytes) -> Bool { sddj_is_ended(decoder, body.pointer.baseAddress, body.count) }

    /// Decodes into the target.
    /// - Returns: false if more bytes are needed.
    private func decode() throws(CoderError) -> Bool {
        switch target {
        case nil: return false
        case .whole(let whole):
            guard let pixels = try pixels(of: whole) else { return false }
            // Safety: `pixels` has as many rows, of as many bytes, as the header told and the layout takes.
            return try isDone(sddj_decode(decoder, pixels.base, pixels.stride, whole.layout))
        case .reduced(let reducer, _): return try isDone(reducer.takeRows { sddj_decode_rows(decoder, $0, $1) })
        }
    }

    /// Returns the pixels of the target. Those of a picture with several scans are made once the last scan is there:
    /// until then the same memory can serve a preview.
    private func pixels(of whole: Whole) throws(CoderError) -> PixelBuffer? {
        if whole.pixels == nil {
            guard try isDone(sddj_begin(decoder, whole.layout)) else { return nil }
            underway = nil
            try whole.makePixels(in: task.memory(for: whole.format))
        }
        return whole.pixels
    }

    /// Accepts the rows that were made, if that is allowed and there are any; else throws the error.
    private func settle(_ error: CoderError) throws(CoderError) {
        guard let target, let pixels = target.pixels, task.isLenient else { throw error }
        let made = rows(sddj_rows(decoder), in: target)
        guard error.kind == .corrupt || error.kind == .truncated, made > 0 else { throw error }
        pixels.clear(from: made)
        goodRows = rows(sddj_good_rows(decoder), in: target)
    }

    /// Returns how many rows of a target are made of so many rows that libjpeg has written.
    private func rows(_ written: UInt32, in target: Target) -> Int {
        switch target {
        case .whole: Int(written)
        case .reduced(let reducer, _): reducer.rows(madeOf: Int(written))
        }
    }

    /// Converts a status of the shim.
    /// - Returns: false if more bytes are needed.
    private func isDone(_ status: sddj_status) throws(CoderError) -> Bool {
        guard let kind = CoderError.Kind(status) else { return status == SDDJ_OK }
        throw CoderError(kind, String(cString: sddj_message(decoder)))
    }
}

// MARK: - Destination of the pixels

extension JPEGReader {
    private func makeTarget(_ header: sddj_header) throws(CoderError) -> Target {
        let plan = try task.plan(width: header.width, height: header.height)
        guard plan.isWhole else { return try makeReduced(header, plan) }
        let (format, layout) = Self.output(for: task.wanted, header.colours)
        let whole = Whole(width: Int(header.width), height: Int(header.height), format, layout)
        let memory = task.memory(for: format)
        // Memory that the application lends may be too small, which shows at once.
        if !header.has_scans || memory.isLent { try whole.makePixels(in: memory) }
        return .whole(whole)
    }

    /// Makes a target for a scaled picture. libjpeg reduces it by powers of two, which saves most of its work, and the
    /// rest is done by area.
    private func makeReduced(_ header: sddj_header, _ plan: SizePlan) throws(CoderError) -> Target {
        let (storedWidth, storedHeight) = (Int(header.width), Int(header.height))
        let eighths = JPEGScale.eighths(
            ofWidth: storedWidth, height: storedHeight, for: plan, isExact: task.isExact)
        var (width, height): (UInt32, UInt32) = (header.width, header.height)
        _ = try isDone(sddj_scale(decoder, UInt32(eighths), &width, &height))
        // The last pixel of a row or column covers as much as the others, some of it outside the picture.
        let reduction = Reduction(
            width: Int(width), height: Int(height), plan: plan, storedWidth: Int(width) * 8 / eighths,
            storedHeight: Int(height) * 8 / eighths, format: .rgba8, isOpaque: true, hasInks: task.keepsInks)
        return .reduced(try reduction.makeReducer(in: task.memory(for: .rgba8)), reduction)
    }

    /// Returns the format and layout that the shim writes. A JPEG is opaque, so the premultiplied formats are the same
    /// as the others.
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

// MARK: - Memory for coefficients

extension JPEGReader {
    /// Coefficients come from the memory for pixels: both are taken for one picture and freed for the next.
    private static var memory: sddj_memory {
        sddj_memory(
            take: { size, taken in
                guard let block = SpareMemory.pixels.allocate(size) else { return nil }
                taken?.pointee = block.size
                return block.base
            },
            give_back: { base, size in
                if let base { SpareMemory.pixels.adopt(base, size: size) }
            })
    }
}

// MARK: - Previews

extension JPEGReader {
    func preview(afterScans: Int) throws(CoderError) -> Preview? {
        guard let target else { return nil }
        if hasScans { return try scanPreview(like: target, afterScans) }
        let rows = rows(sddj_good_rows(decoder), in: target)
        guard rows > 0, rows > shown || afterScans == 0, let pixels = target.pixels else { return nil }
        shown = rows
        return Preview(pixels: try pixels.copy(rows: rows), goodRows: rows)
    }

    /// Makes a preview of all complete scans, in new memory. The preview of the first scan takes several calls, as the
    /// scan arrives.
    private func scanPreview(like target: Target, _ scans: Int) throws(CoderError) -> Preview? {
        let complete = Int(sddj_scans(decoder))
        guard shown == 0 || complete - shown >= scans else { return nil }
        let preview: Target
        if let underway { preview = underway } else { preview = try makePreview(like: target) }
        underway = preview
        let status =
            switch preview {
            case .whole(let whole): sddj_preview(decoder, whole.pixels?.base, whole.pixels?.stride ?? 0)
            case .reduced(let reducer, _): reducer.takeRows { sddj_preview_rows(decoder, $0, $1) }
            }
        guard try isDone(status), let pixels = preview.pixels else { return nil }
        underway = nil
        shown = max(1, complete)
        return Preview(pixels: pixels, goodRows: finalRows(of: preview))
    }

    /// Returns how many rows of a preview are final. In a picture that is not progressive, but has one scan per
    /// component, these are few rows or none.
    private func finalRows(of preview: Target) -> Int {
        let rows = Int(sddj_final_preview_rows(decoder))
        return switch preview {
        case .whole: rows
        case .reduced(let reducer, _): reducer.rows(madeOf: rows)
        }
    }

    private func makePreview(like target: Target) throws(CoderError) -> Target {
        switch target {
        case .whole(let whole):
            let preview = Whole(width: whole.width, height: whole.height, whole.format, whole.layout)
            try preview.makePixels(in: .library)
            return .whole(preview)
        case .reduced(_, let reduction): return .reduced(try reduction.makeReducer(), reduction)
        }
    }
}
