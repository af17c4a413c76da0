import Glibc
import SDDBase
import TestSupport
import Testing

@testable import SDDCoders

/// Files that the fuzzer once found, and similar ones: see docs/fuzzing.md.
@Suite struct FuzzFindingsTests {
    private static let names: [String] = {
        guard let folder = opendir(Fixtures.path("fuzz")) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name.hasSuffix(".jpg") || name.hasSuffix(".png") { names.append("fuzz/" + name) }
        }
        return names.sorted()
    }()

    @Test func theFixturesHaveFindings() { #expect(!Self.names.isEmpty) }

    /// Decodes at full size, small and turned, strictly and leniently, at once and in pieces of each of these sizes.
    @Test(arguments: names, [1, 7, 100, Int.max])
    func survives(name: String, step: Int) throws {
        let whole = try Fixtures.array(name)
        for isLenient in [false, true] {
            let forms = [
                DecodeOptions(isUpright: false, isLenient: isLenient),
                DecodeOptions(size: SizeRule(width: 11, height: 9), isLenient: isLenient),
                DecodeOptions(format: .bgra8Premultiplied, isLenient: isLenient),
            ]
            // given
            let atOnce = Self.outcome(forms, [whole.count], of: whole)
            // when
            let counts = stride(from: min(step, whole.count), to: whole.count, by: step) + [whole.count]
            let inPieces = Self.outcome(forms, counts, of: whole)
            // then
            #expect(inPieces == atOnce)
        }
    }

    /// Decodes in steps, and returns the pictures; nil for an error.
    private static func outcome(_ forms: [DecodeOptions], _ counts: [Int], of whole: [UInt8]) -> [Raster]? {
        let stream = PictureStream(limits: DecodeLimits(maxPixels: 1 << 16), registry: .builtIn)
        var last: PictureStream.Step?
        for count in counts {
            // Only the last step gives pictures.
            last = try? stream.read(
                bytes(of: whole[..<count]), forms: forms, isLast: count == whole.count, previewScans: 1)
        }
        return try? last?.pictures?.map { Raster(try $0.image.get()) }
    }
}
