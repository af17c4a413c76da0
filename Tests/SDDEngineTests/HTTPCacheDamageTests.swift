import SDDBase
import SDDCaches
import SDDCoders
import TestSupport
import Testing

@testable import SDDEngine

/// Z12: a body that is not a whole picture is not stored, whatever HTTP says of it.
@Suite struct HTTPCacheDamageTests {
    private static let fields = ["Cache-Control: max-age=3600", "ETag: \"a\""]

    @Test(
        "pictures cut at every 16th byte, with a correct Content-Length",
        arguments: ["png/grey4.png", "jpeg/grey.jpg"])
    func storesNoTruncatedPicture(fixture: String) throws {
        let whole = try Fixtures.array(fixture)
        let world = try HTTPCacheWorld()
        for count in stride(from: 0, to: whole.count, by: 16) {
            let target = "/script/\(count)"
            world.server.script("\(count)", ScriptedReply(200, Self.fields, body: Array(whole[..<count])))
            let cut = try world.run(world.request(target, pixels: true))
            // A decoder may not need the last few bytes, so that the body is a picture.
            guard cut.error != nil else { continue }
            #expect(cut.error?.code == .badImageData, "\(fixture), \(count) bytes")
            world.server.script("\(count)", ScriptedReply(200, Self.fields, body: whole))
            let next = try world.run(world.request(target, pixels: true))
            #expect(next.error == nil && next.origin == .network && next.image != nil, "\(fixture), \(count) bytes")
            #expect(world.server.requests.last?.header("If-None-Match") == nil)
        }
        #expect(world.server.requests.count > 2 * (whole.count / 16) - 4)
    }

    @Test("a partial picture for a lenient request is not stored either")
    func storesNoPartialPicture() throws {
        let whole = try Fixtures.array("jpeg/grey.jpg")
        let world = try HTTPCacheWorld()
        world.server.script("s", ScriptedReply(200, Self.fields, body: Array(whole[..<(whole.count * 3 / 4)])))
        var request = try world.request("/script/s", pixels: true)
        request.form = DecodeOptions(isLenient: true)
        let partial = try world.run(request)
        #expect(partial.image?.isPartial == true)
        world.server.script("s", ScriptedReply(200, Self.fields, body: whole))
        let next = try world.run(world.request("/script/s", pixels: true))
        #expect(next.origin == .network && next.image?.isPartial == false)
    }

    @Test("a page in place of a picture is not stored if a picture is wanted")
    func storesNoPage() throws {
        let world = try HTTPCacheWorld()
        world.server.script("s", ScriptedReply(200, Self.fields, body: Array("<html>log in</html>".utf8)))
        #expect(try world.run(world.request("/script/s", pixels: true)).error?.detail == .imageUnknownFormat)
        world.server.script("s", ScriptedReply(200, Self.fields, body: try Fixtures.array("png/grey4.png")))
        #expect(try world.run(world.request("/script/s", pixels: true)).origin == .network)
        #expect(try world.run(world.request("/script/s", pixels: true)).origin == .httpFresh)
    }

    @Test("a stored response that is no picture is asked for again if a picture is wanted", arguments: [200, 304])
    func aStoredPageIsAskedForAgain(status: Int) throws {
        let world = try HTTPCacheWorld()
        let lifetime = status == 304 ? "no-cache" : "max-age=3600"
        let page = ScriptedReply(200, ["Cache-Control: \(lifetime)", "ETag: \"p\""], body: Array("<html>".utf8))
        let picture = ScriptedReply(200, Self.fields, body: try Fixtures.array("png/grey4.png"))
        if status == 304 {
            world.server.script("s", page, ScriptedReply(304), picture)
        } else {
            world.server.script("s", page, picture)
        }
        #expect(try world.run(world.request("/script/s")).error == nil)
        // when
        let asked = try world.run(world.request("/script/s", pixels: true))
        // then
        #expect(asked.origin == .network && asked.image != nil)
        #expect(world.server.requests.last?.header("If-None-Match") == nil)
        #expect(world.flush())
        #expect(try world.run(world.request("/script/s", pixels: true)).origin == .httpFresh)
    }

    @Test("5861 §3: a page does not replace the picture that is served while it is revalidated")
    func aPageReplacesNoPictureInTheBackground() throws {
        let world = try HTTPCacheWorld()
        let window = ["Cache-Control: max-age=60, stale-while-revalidate=600", "Age: 90"]
        world.server.script(
            "s", ScriptedReply(200, window, body: try Fixtures.array("png/grey4.png")),
            ScriptedReply(200, Self.fields, body: Array("<html>log in</html>".utf8)))
        #expect(try world.run(world.request("/script/s", pixels: true)).origin == .network)
        #expect(world.flush())
        // when
        #expect(try world.run(world.request("/script/s", pixels: true)).origin == .httpStale)
        #expect(world.waitForStops(2))
        // then
        #expect(try world.run(world.request("/script/s", pixels: true)).origin == .httpStale)
    }

    @Test("5861 §4: pixels decoded before the body broke off do not appear in the stale picture that is served")
    func servesTheStoredPictureAfterABreak() throws {
        let world = try HTTPCacheWorld()
        let (old, new) = (try Fixtures.array("png/size-17x3.png"), try Fixtures.array("jpeg/grey.jpg"))
        world.server.script(
            "s", ScriptedReply(200, ["Cache-Control: max-age=60, stale-if-error=600"], body: old),
            ScriptedReply(200, body: new, cut: new.count * 3 / 4, cutGate: "s"))
        _ = try world.run(world.request("/script/s"))
        world.time.pass(seconds: 100)
        var request = try world.request("/script/s", pixels: true)
        request.wantsPreviews = true
        request.wantsFacts = true
        let callbacks = RecordingCallbacks()
        _ = world.downloader.submit(.success(request), callbacks: callbacks)
        #expect(callbacks.waitForFacts())
        world.server.release("s")
        let result = try world.end(of: callbacks)
        #expect(result.origin == .httpStale && result.image?.width == 17 && result.array == old)
    }
}
