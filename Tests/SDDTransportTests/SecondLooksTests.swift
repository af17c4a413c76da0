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
            sleeps.append(looks.longestSleep(hasHTTP2: true))
            looks.nothingCame()
        }
        // then
        #expect(sleeps == SecondLooks.sleeps + [Self.never])
        looks.somethingCame()
        #expect(looks.longestSleep(hasHTTP2: true) == SecondLooks.sleeps[0])
    }

    @Test func sleepsWithoutHTTP2OrWithALibcurlThatTellsAtOnce() {
        #expect(SecondLooks(isNeeded: true).longestSleep(hasHTTP2: false) == Self.never)
        #expect(SecondLooks(isNeeded: false).longestSleep(hasHTTP2: true) == Self.never)
    }
}
