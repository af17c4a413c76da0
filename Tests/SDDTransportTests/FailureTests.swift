import Glibc
import SDDBase
import SDDTransport
import TestSupport
import Testing

/// Every kind of failure, each with a message of one sentence.
@Suite struct FailureTests {
    @Test(arguments: [
        ("/cut", TransportError.Kind.truncatedBody), ("/cut?after=0", .truncatedBody), ("/cut-chunked", .truncatedBody),
        ("/cut-head", .connectionLost), ("/status/103?close", .connectionLost),
        ("/reset", .connectionLost), ("/reset?after=0", .connectionLost), ("/reset?after=20", .connectionLost),
        ("/garbage", .notHTTP), ("/http09", .notHTTP), ("/bad-chunk", .notHTTP), ("/announce?size=-5", .notHTTP),
        ("/header-flood", .headersTooLarge), ("/header-flood?length=120000", .headersTooLarge),
        ("/interim", .headersTooLarge),
        ("/redirect?to=/garbage", .notHTTP), ("/redirect?to=http://", .redirectMalformed),
        ("/redirect?to=http://127.0.0.1:1/", .connect), ("/redirect?to=http://no-such-host.invalid/", .resolve),
        ("/gzip-cut", .truncatedBody), ("/gzip-cut?drop=1", .truncatedBody), ("/gzip-cut?drop=70", .truncatedBody),
        ("/gzip-cut?framing=close", .truncatedBody), ("/gzip-cut?framing=chunked", .truncatedBody),
        ("/gzip-twice", .contentEncoding), ("/gzip-corrupt", .contentEncoding),
        ("/gzip-corrupt?where=checksum", .contentEncoding),
        ("/gzip-corrupt?where=magic", .contentEncoding),
        ("/ok?header=Content-Encoding:%20gzip,%20gzip", .contentEncoding),
    ])
    func reportsTheServersFault(target: String, kind: TransportError.Kind) throws {
        // given
        let server = try ScriptedServer()
        let transport = try TransportUnderTest()
        // when
        let id = transport.start(try HTTPRequest(to: server.url(target)))
        let failure = try transport.waitForEnd(of: id).failure()
        // then
        #expect(failure.kind == kind, "\(failure)")
        expectOneSentence(failure.message)
        // and the transport works as before
        #expect(try transport.body(of: HTTPRequest(to: server.url("/ok"))).count == 64)
        #expect(transport.events(of: id).last?.isEnd == true)
    }

    @Test(arguments: [
        ("http://no-such-host.invalid/", TransportError.Kind.resolve, 6), ("http://127.0.0.1:1/", .connect, 7),
        ("http://127.0.0.1:99999/", .malformedURL, 3), ("http://[::1/", .malformedURL, 3),
        ("file:///etc/passwd", .unsupportedScheme, 1), ("file:///no-such-file", .unsupportedScheme, 1),
    ])
    func reportsWhyThereIsNoConnection(url: String, kind: TransportError.Kind, code: Int32) throws {
        // given
        let transport = try TransportUnderTest()
        // when
        let end = try transport.run(HTTPRequest(to: url))
        // then
        let failure = try end.failure()
        #expect(failure.kind == kind)
        #expect(failure.curlCode == code)
        #expect(end.status == 0)
        #expect(failure.systemError == (kind == .connect ? ECONNREFUSED : 0))
        expectOneSentence(failure.message)
    }

    @Test func forgetsAnErrorBeforeTheNextTransfer() throws {
        // given: a refused connection, whose errno libcurl remembers
        let server = try ScriptedServer()
        let transport = try TransportUnderTest()
        #expect(try transport.failure(of: HTTPRequest(to: "http://127.0.0.1:1/")).systemError == ECONNREFUSED)
        // when
        let failure = try transport.failure(of: HTTPRequest(to: server.url("/cut")))
        // then
        #expect(failure.kind == .truncatedBody)
        #expect(failure.systemError == 0)
    }

    @Test func namesTheHostAndNeverThePassword() throws {
        // given
        let transport = try TransportUnderTest()
        // when
        let failure = try transport.failure(of: HTTPRequest(to: "http://user:secret@127.0.0.1:1/path"))
        // then
        #expect(failure.message.contains("127.0.0.1"))
        #expect(!failure.message.contains("secret"))
    }

    @Test(arguments: ["missing", "folder", "pipe"])
    func refusesAFileThatIsNotReadable(name: String) throws {
        // given
        let folder = try TemporaryFolder()
        mkdir(folder.path("folder"), 0o700)
        mkfifo(folder.path("pipe"), 0o600)
        var configuration = TransportConfiguration()
        configuration.allowsFiles = true
        let transport = try TransportUnderTest(configuration)
        // when: a pipe without a writer would block the whole thread
        let failure = try transport.failure(of: HTTPRequest(to: "file://" + folder.path(name)))
        // then
        #expect(failure.kind == .fileNotReadable)
        #expect(failure.systemError == (name == "missing" ? ENOENT : 0))
    }

    @Test func takesNoMoreBytesThanAnnounced() throws {
        // given
        let server = try ScriptedServer()
        let transport = try TransportUnderTest()
        // when
        let body = try transport.body(of: HTTPRequest(to: server.url("/overrun?size=100")))
        // then
        #expect(body == ScriptedServer.body(of: "/overrun?size=100", size: 100))
    }
}

func expectOneSentence(_ message: String) {
    #expect(message.hasSuffix("."))
    #expect(!message.contains("\n"))
    #expect(message.first?.isLowercase == false || message.first?.isLetter == true)
    #expect(message.count > 20)
}
