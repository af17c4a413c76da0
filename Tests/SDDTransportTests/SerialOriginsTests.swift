import Testing

@testable import SDDTransport

@Suite struct SerialOriginsTests {
    @Test func theLastAnswerOfAnOriginCounts() {
        var origins = SerialOrigins()
        #expect(!origins.contains(1))
        let first = origins.answered(1, byHTTP1: true)
        #expect(first && origins.contains(1) && !origins.contains(2))
        let second = origins.answered(1, byHTTP1: true)
        #expect(!second, "those that waited were let go the first time")
        let other = origins.answered(2, byHTTP1: false)
        #expect(!other && !origins.contains(2) && origins.contains(1))
        let shared = origins.answered(1, byHTTP1: false)
        #expect(!shared && !origins.contains(1))
        let again = origins.answered(1, byHTTP1: true)
        #expect(again && origins.contains(1))
    }

    @Test func theNumberOfOriginsIsLimited() {
        var origins = SerialOrigins()
        for origin in 1...UInt64(SerialOrigins.mostOrigins) { _ = origins.answered(origin, byHTTP1: true) }
        #expect(origins.contains(1) && origins.contains(UInt64(SerialOrigins.mostOrigins)))
        _ = origins.answered(0, byHTTP1: true)
        #expect(origins.contains(0) && !origins.contains(1))
    }
}
