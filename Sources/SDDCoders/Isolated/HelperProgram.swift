/// The program that decodes, and what it may take. A value.
package struct HelperProgram: Sendable {
    /// The absolute path of the program sdd-decoder.
    package let path: String
    /// The absolute path of this library's file, which the program loads.
    let library: String
    /// The limits of one picture.
    let limits: DecodeLimits

    package init(path: String, library: String, limits: DecodeLimits) {
        (self.path, self.library, self.limits) = (path, library, limits)
    }

    /// Bytes of address space that a helper may take: a picture, a preview of it, and the library itself; 0 means no
    /// limit.
    var memory: UInt64 { times(2, plus: 448 << 20) }

    /// Bytes that its file of pixels may have: one picture; 0 means no limit.
    var pixels: UInt64 { times(1, plus: 64 << 20) }

    private func times(_ factor: UInt64, plus own: UInt64) -> UInt64 {
        guard limits.maxBytes > 0 else { return 0 }
        let (product, isTooMuch) = UInt64(limits.maxBytes).multipliedReportingOverflow(by: factor)
        return isTooMuch ? 0 : min(product, 1 << 62) + own
    }

    /// CPU time, in seconds, after which a helper gets no more pictures: another one then starts. `nil` means that there
    /// is no limit.
    var life: Int64? {
        let largest = HelperPatience(limits, byteCount: Self.largestBody)
        return largest.cpu.map { 600 + min($0 / 1_000_000, 1 << 40) }
    }

    /// CPU time, in seconds, after which the kernel kills a helper, whatever it does; 0 means no limit. One that works
    /// as it should never gets there: after its life it still decodes the pictures that it has begun.
    var seconds: UInt64 { life.map { UInt64(2 * $0) } ?? 0 }

    private static let largestBody = 64 << 20
}
