internal import CHelper
internal import Glibc

/// The file in memory through which a helper gives pixels to the application. It becomes as large as the largest
/// picture. Used by the helper's main thread.
final class PixelFile {
    private var base: UnsafeMutableRawPointer?
    private var size = 0
    /// Bytes in use by the current reply.
    private var used = 0
    /// Mappings of fewer bytes of the file, which pixels of the current reply may be in.
    private var former: [(base: UnsafeMutableRawPointer, size: Int)] = []
    /// Where the pixels of the current reply are.
    private var places: [(address: UnsafeMutableRawPointer, offset: Int)] = []

    /// Returns memory in the file for the pixels of one reply. The file must live as long.
    func memory(rowAlignment: Int) -> PixelMemory {
        let allocator = PixelAllocator(
            allocate: { size, _, data in
                guard let data else { return nil }
                return try? Unmanaged<PixelFile>.fromOpaque(data).takeUnretainedValue().allocate(size).0
            }, release: { _, _, _ in }, userData: Unmanaged.passUnretained(self).toOpaque())
        return PixelMemory(owner: .allocator(allocator), rowAlignment: rowAlignment)
    }

    /// Returns bytes of the file, and their offset in it.
    func allocate(_ byteCount: Int) throws(CoderError) -> (UnsafeMutableRawPointer, Int) {
        let offset = (used + Self.alignment - 1) & ~(Self.alignment - 1)
        let (end, isTooFar) = offset.addingReportingOverflow(byteCount)
        guard !isTooFar, end <= Int.max / 2 else { throw CoderError(.noMemory) }
        if end > size { try grow(to: (end + Self.step - 1) & ~(Self.step - 1)) }
        guard let base else { throw CoderError(.noMemory) }
        used = end
        places.append((base + offset, offset))
        return (base + offset, offset)
    }

    private func grow(to newSize: Int) throws(CoderError) {
        guard ftruncate(Descriptor.pixels, newSize) == 0,
            let mapped = mmap(nil, newSize, PROT_READ | PROT_WRITE, MAP_SHARED, Descriptor.pixels, 0),
            mapped != MAP_FAILED
        else { throw CoderError(.noMemory, "\(newSize) bytes of pixels") }
        if let base { former.append((base, size)) }
        (base, size) = (mapped, newSize)
    }

    /// Returns the offset of pixels in the file, after copying them there if they are somewhere else.
    func offset(of pixels: UnsafeMutableRawPointer, byteCount: Int) throws(CoderError) -> Int {
        if let place = places.first(where: { $0.address == pixels }) { return place.offset }
        let (base, offset) = try allocate(byteCount)
        base.copyMemory(from: pixels, byteCount: byteCount)
        return offset
    }

    /// Begins with another reply.
    func reset() {
        used = 0
        places = []
        for mapping in former { munmap(mapping.base, mapping.size) }
        former = []
    }

    private static let alignment = 64
    private static let step = 1 << 20
}

/// The descriptors that a helper has.
enum Descriptor {
    static let socket = Int32(SDDHELPER_SOCKET)
    static let body = Int32(SDDHELPER_BODY)
    static let pixels = Int32(SDDHELPER_PIXELS)
}
