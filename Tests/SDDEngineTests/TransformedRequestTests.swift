import SDDBase
import TestSupport
import Testing

@testable import SDDCoders
@testable import SDDEngine

/// Requests for transformed pictures, through a whole downloader.
@Suite struct TransformedRequestTests {
    private let transport = FakeTransport()

    @Test("equal requests share one transform, and each gets the original bytes")
    func oneTransformForAll() throws {
        // given
        let png = try Fixtures.array("png/rgb8.png")
        let threads = Recorder<ThreadIdentity>()
        var turned = DecodeOptions()
        turned.transforms = TransformChain([
            .custom(key: "turned") { pixels in
                threads.record(.current)
                return try? TransformChain([.rotate(.one)]).apply(to: pixels)
            }
        ])
        var refused = DecodeOptions()
        refused.transforms = TransformChain([.custom(key: "no") { _ in nil }])
        let downloader = try transport.makeDownloader()
        let recorders = [turned, turned, refused, DecodeOptions()].map { form in (form, RecordingCallbacks()) }
        // when
        for (form, callbacks) in recorders {
            try downloader.submit("a.png", callbacks: callbacks) { ($0.wantsPixels, $0.form) = (true, form) }
        }
        transport.answerAll(with: png)
        for (_, callbacks) in recorders { #expect(callbacks.waitUntilReleased()) }
        downloader.destroy()
        // then: 19 x 13 pixels
        let results = try recorders.map { try #require($0.1.record.results.first) }
        #expect(results[0].image?.width == 13 && results[0].image === results[1].image)
        #expect(results[2].error?.detail == .imageTransform && results[2].stage == .decode)
        #expect(results[3].image?.width == 19)
        for result in results where result.error == nil { #expect(result.bytes?.count == png.count) }
        #expect(threads.all.count == 1 && threads.all.first != .current)
    }
}
