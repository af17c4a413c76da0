import SDDBase
import TestSupport
import Testing

@testable import SDDCoders

/// What the profiles of strangers may take, and say: `docs/threat-model.md`.
@Suite struct ProfileLimitsTests {
    /// Returns a profile for greys (ICC.1:2022, 7.2, 7.3), with `more` tags that nobody reads before its own two.
    private func profile(name: [UInt8] = [], values: Int = 2, more: Int = 0) -> [UInt8] {
        let curve = Array("curv".utf8) + number(0) + number(values) + (0..<values).flatMap { _ in [0x12, 0x34] }
        let text = Array("desc".utf8) + number(0) + number(name.count) + name
        let begin = 132 + 12 * (more + 2)
        var tags = number(more + 2)
        for _ in 0..<more { tags += Array("none".utf8) + number(128) + number(4) }
        tags += Array("desc".utf8) + number(begin) + number(text.count)
        tags += Array("kTRC".utf8) + number(begin + text.count) + number(curve.count)
        let header = [UInt8](repeating: 0, count: 12) + Array("GRAYXYZ ".utf8) + [UInt8](repeating: 0, count: 12)
        let rest = header + Array("acsp".utf8) + [UInt8](repeating: 0, count: 88) + tags + text + curve
        return number(rest.count + 4) + rest
    }

    private func number(_ number: Int) -> [UInt8] {
        withUnsafeBytes(of: UInt32(number).bigEndian) { Array($0) }
    }

    private func colour(_ profile: [UInt8]) -> PictureColour? {
        var description = ColourDescription()
        description.profile = bytes(of: profile)
        description.isGrey = true
        return PictureColour.made(of: description)
    }

    private func name(of profile: [UInt8]) -> String? {
        guard let made = colour(profile) else { return nil }
        return withExtendedLifetime(made) { made.name.pointer.map { String(cString: $0) } }
    }

    @Test func tagsAndValuesOfCurvesAreCounted() {
        #expect(colour(profile())?.kind == .grey)
        #expect(colour(profile(more: 98))?.kind == .grey)
        #expect(colour(profile(more: 99)) == nil)
        #expect(colour(profile(values: 65_536))?.kind == .grey)
        #expect(colour(profile(values: 65_537)) == nil)
    }

    /// The last two end before what they say is their end, or are too short for a header.
    @Test(arguments: [
        (8 << 20, 8 << 20, true), (8 << 20 + 1, 8 << 20 + 1, false), (200, 194, false), (131, 194, false),
    ])
    func aProfileHasAtMostEightMiB(stated: Int, size: Int, isUsable: Bool) throws {
        var profile = [UInt8](repeating: 0, count: size)
        profile.replaceSubrange(0..<4, with: number(stated))
        let bytes = try #require(profile.withUnsafeBytes { Bytes(copying: $0) })
        #expect((ColourDescription.usable(bytes) != nil) == isUsable)
    }

    @Test func aNameCommandsNoTerminal() {
        let name = [0x1b] + Array("[2J".utf8) + [0x07, 0x9b, 0x7f] + Array("film\n".utf8)
        #expect(self.name(of: profile(name: name)) == "[2Jfilm")
        #expect(self.name(of: profile(name: [UInt8](repeating: 65, count: 9999)))?.count == 200)
    }

    // MARK: - The coder of profiles that the library does not read

    private final class Source: CoderSource {
        private let coder: ToyCoder

        init(_ coder: ToyCoder) { self.coder = coder }

        func findCoders() -> FoundCoders { FoundCoders(places: [.icc: "here"]) }
        func load(_ format: ImageFormat, in place: String) throws(CoderError) -> any AppCoder { coder }
        func findDecoder(_ limits: DecodeLimits) throws(CoderError) -> HelperProgram { throw CoderError(.noDecoder) }
    }

    /// What refuses a profile may have taken long over it, and a host sends its body in as many pieces as it likes.
    @Test(arguments: ["tables.png", "inks.jpg"])
    func aProfileThatIsRefusedIsTriedOnce(name: String) throws {
        // given
        let coder = ToyCoder("icc", format: ImageFormat.icc.rawValue) { $0.width = 0 }
        let coders = InstalledCoders()
        coders.setSource(Source(coder))
        let stream = PictureStream(limits: DecodeLimits(), registry: .builtIn.asking([], installed: coders))
        let form = DecodeOptions(colour: .sRGB)
        let whole = try Fixtures.bytes("colour/\(name)")
        // when
        for end in stride(from: 1, to: whole.count, by: 37) {
            let piece = Bytes(borrowing: UnsafeRawBufferPointer(rebasing: whole.pointer[..<end]))
            _ = try stream.read(piece, forms: [form], isLast: false)
        }
        let image = try #require(try stream.read(whole, forms: [form], isLast: true).pictures?.first).image.get()
        // then
        #expect(coder.log.withLock { $0.filter { $0.hasPrefix("open") }.count } == 1)
        #expect(!image.isConverted && image.colour?.mayNeedEngine == true)
        withExtendedLifetime(whole) {}
    }
}
