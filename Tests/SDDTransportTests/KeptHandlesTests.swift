internal import CCurl
import SDDBase
import TestSupport
import Testing

@testable import SDDTransport

@Suite struct KeptHandlesTests {
    private static let url = "http://localhost/a.jpg"

    /// - Parameter change: Makes the request, its options or the configuration another one than usual.
    private func shape(
        _ url: String = url, method: String = "GET", priority: Priority = .normal,
        _ change: (inout HTTPRequest, inout TransferOptions.Values, inout TransportConfiguration) -> Void = { _, _, _ in
        }
    ) throws -> HandleShape? {
        var configuration = TransportConfiguration()
        configuration.proxy = .none
        var values = TransferOptions.Values()
        var request = try HTTPRequest(to: url, method: method)
        change(&request, &values, &configuration)
        request.options = TransferOptions(values)
        let options = try CurlOptions(configuration, cookies: CookieJar(file: nil))
        return HandleShape(request, priority: priority, options, mayBeKept: true)
    }

    @Test func givesAHandleToARequestOfItsShape() throws {
        // given
        let (plain, secure) = (try #require(try shape()), try #require(try shape("https://localhost/")))
        var kept = KeptHandles()
        let easy = try #require(EasyHandle())
        easy.shape = plain
        // when
        kept.keep(easy)
        // then
        #expect(kept.take(for: secure) == nil)
        #expect(kept.take(for: plain) === easy)
        #expect(kept.take(for: plain) == nil)
    }

    @Test func keepsNoHandleThatWasTouched() throws {
        // given
        let plain = try #require(try shape())
        let touches: [(EasyHandle) throws -> Void] = [
            { try $0.set(CURLOPT_VERBOSE, true) }, { try $0.set(CURLOPT_URL, Self.url) }, { $0.pause(CURLPAUSE_ALL) },
            { _ = $0.stopReading() },
        ]
        for touch in touches {
            var kept = KeptHandles()
            let easy = try #require(EasyHandle())
            easy.shape = plain
            // when
            try touch(easy)
            kept.keep(easy)
            // then
            #expect(kept.take(for: plain) == nil)
        }
    }

    @Test func keepsOnlyAFew() throws {
        // given
        let plain = try #require(try shape())
        var kept = KeptHandles()
        // when
        for _ in 0..<100 {
            let easy = try #require(EasyHandle())
            easy.shape = plain
            kept.keep(easy)
        }
        // then
        var count = 0
        while kept.take(for: plain) != nil { count += 1 }
        #expect(count == 8)
    }

    @Test func hasAShapeForPlainRequestsOnly() throws {
        #expect(try shape() != nil)
        #expect(try shape { _, values, _ in values.clocks.stall = 1 } == shape())
        #expect(try shape { _, values, _ in values.clocks.connect = 1 } != shape())
        #expect(try shape { _, values, _ in values.staysPacked = true } != shape())
        // Each of these has options on its handle that the next request must not inherit.
        #expect(try shape("http://user:password@localhost/") == nil)
        #expect(try shape("file:///etc/hosts") == nil)
        #expect(try shape(method: "HEAD") == nil)
        #expect(try shape(priority: .high) == nil)
        #expect(try shape { request, _, _ in request.body = Bytes(adopting: nil, count: 0) } == nil)
        #expect(try shape { _, values, _ in values.usesCookies = true } == nil)
        #expect(try shape { _, values, _ in values.verifiesCertificate = false } == nil)
        #expect(try shape { _, values, _ in values.caFile = "/ca.pem" } == nil)
        #expect(try shape { _, values, _ in values.credential = Credential() } == nil)
        #expect(try shape { _, _, configuration in configuration.proxy = .url("http://proxy/", except: nil) } == nil)
        #expect(try shape { _, _, configuration in configuration.resolve = ["a:80:127.0.0.1"] } == nil)
    }

    @Test func hasNoShapeWithALibcurlThatForbidsIt() throws {
        let options = try CurlOptions(TransportConfiguration(), cookies: CookieJar(file: nil))
        let request = try HTTPRequest(to: Self.url)
        #expect(HandleShape(request, priority: .normal, options, mayBeKept: false) == nil)
    }
}
