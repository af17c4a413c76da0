import Testing

@testable import SDDTransport

@Suite struct SecondLooksTests {
    private static let never = Int64(Int32.max)

    @Test func looksAgainSoonAfterAnEventAndThenNoMore() {
        // given
        var looks = SecondLooks(isNeeded: true)
        // when
        var sleeps: [Int64] = []
        for _ in 0...SecondLooks.sleeps.count {
            sleeps.append(looks.longestSleep(hasHTTP2: true, hasWaiting: false))
            looks.nothingCame()
        }
        // then
        #expect(sleeps == SecondLooks.sleeps + [Self.never])
        looks.somethingCame()
        #expect(looks.longestSleep(hasHTTP2: true, hasWaiting: false) == SecondLooks.sleeps[0])
    }

    @Test func sleepsWithoutHTTP2OrWithALibcurlThatTellsAtOnce() {
        #expect(SecondLooks(isNeeded: true).longestSleep(hasHTTP2: false, hasWaiting: false) == Self.never)
        #expect(SecondLooks(isNeeded: false).longestSleep(hasHTTP2: true, hasWaiting: false) == Self.never)
        #expect(SecondLooks(isNeeded: false).longestSleep(hasHTTP2: false, hasWaiting: true) == SecondLooks.sleeps[0])
    }
}
