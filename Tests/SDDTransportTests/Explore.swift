import SDDBase
import SDDTransport
import TestSupport
import Testing
import Glibc
@Suite struct Explore {
  @Test func all() throws {
    let server = try ScriptedServer()
    let nginx = try NginxServer.shared
    try nginx.add("a.bin", [UInt8](repeating: 7, count: 100_000))
    var c = TransportConfiguration()
    c.maxBodyBytes = 1 << 20
    c.idleTimeoutMilliseconds = 700
    c.caFile = try Certificates.shared.authorityFile
    let t = try TransportUnderTest(c)
    func p(_ url: String, _ m: String = "GET", verifies: Bool = true) throws {
      let r = try HTTPRequest(to: url, method: m, verifies: verifies)
      let t0 = SystemTime().monotonicMicroseconds()
      let id = t.start(r)
      let e = try t.waitForEnd(of: id)
      let ms = (SystemTime().monotonicMicroseconds()-t0)/1000
      let evs = t.events(of: id).map { e -> String in
        switch e { case .response(_, let h): return "R(\(h.status),\(h.expectedBytes))"; case .received(_, let n): return "\(n)"; case .finished: return "F" } }
      let evt = evs.count > 8 ? Array(evs[..<8]) + ["..."] : evs
      switch e.result {
      case .success(let b): print("\(m) \(url) [\(ms) ms] OK \(e.status) \(b.count) \(evt) \(e.timings)")
      case .failure(let f): print("\(m) \(url) [\(ms) ms] \(f.kind) curl=\(f.curlCode) errno=\(f.systemError) status=\(e.status) \(evt) \"\(f.message)\"")
      }
    }
    for w in ["/ok", "/ok?size=500000","/ok?framing=chunked&size=1000","/ok?framing=close&size=1000","/status/404","/status/304","/status/204","/empty","/redirect?to=/ok","/redirect-loop","/redirect-chain/10","/redirect-chain/11","/redirect?to=file:///etc/passwd","/redirect?to=ftp://127.0.0.1/","/redirect?to=gopher://127.0.0.1:1/","/redirect?to=http://127.0.0.1:1/", "/redirect?to=http://", "/redirect?to=/garbage","/silence","/stall","/stall?framing=chunked","/trickle?size=40&every=30","/cut","/cut?after=0","/cut-chunked","/cut-head","/reset","/reset?after=10","/reset?after=0","/endless","/endless-close","/announce","/announce?size=900000","/announce?size=99999999999999999999999","/announce?size=-5","/announce?size=5x","/overrun","/garbage","/http09","/bad-chunk","/header-flood","/header-flood?length=120000","/header-flood?count=100","/interim?count=3","/interim","/gzip","/gzip-bomb","/gzip-twice","/gzip-corrupt","/gzip-corrupt?where=checksum","/gzip-corrupt?where=magic","/gzip-cut","/gzip-cut?framing=close","/ok?header=Content-Encoding:%20foo","/ok?header=Content-Encoding:%20identity","/ok?header=Transfer-Encoding:%20gzip", "/ok?header=Content-Length:%207"] {
      try p(server.url(w))
    }
    try p(server.url("/ok?size=2000000"), "HEAD")
    try p(server.url("/echo"), "HEAD")
    try p("http://127.0.0.1:1/")
    try p("http://no-such-host.invalid/")
    try p("http://127.0.0.1:99999/")
    try p("http://[::1/")
    try p("https://127.0.0.1:\(server.port)/ok")
    try p("file:///etc/passwd")
    try p(nginx.secureURL("/a.bin"))
    try p(nginx.secureURL("/gzip/a.bin"))
    try p(nginx.secureURL("/to-http/a.bin"))
    try p(nginx.url("/to-https/a.bin"))
    try p(nginx.secureURL("/status/404"))
    for k in CertificateKind.allCases { try p(nginx.secureURL("/a.bin", k)); try p(nginx.secureURL("/a.bin", k), verifies: false); try p(nginx.secureURL("/a.bin", k)) }
    c.allowsFiles = true
    c.caFile = "/nonexistent"
    let t2 = try TransportUnderTest(c)
    for u in ["file:///etc/passwd","file:///nonexistent","file:///etc","file:///dev/zero", "file://otherhost/etc/passwd", "file:///etc/shadow", "file:///dev/null", nginx.secureURL("/a.bin")] {
      let id = t2.start(try HTTPRequest(to: u))
      let e = try t2.waitForEnd(of: id)
      switch e.result { case .success(let b): print(u, "OK", b.count, t2.events(of:id).prefix(3)); case .failure(let f): print(u, f) }
    }
  }
}
