import Testing

@testable import SDDEngine

/// The counts of a body that are reported, and the requests that get them.
@Suite struct ProgressTests {
    private func submit(_ driver: Driver) throws -> UInt64 { try driver.submit(0) { $0.wantsProgress = true } }

    @Test("X18 X25: from (0, -1) at the start over (0, size) at the response to (size, size)")
    func goesFromTheStartToTheWhole() throws {
        let driver = try Driver { $0.maxConcurrent = 1 }
        let first = try submit(driver)
        let waiting = try driver.submit(1) { $0.wantsProgress = true }
        #expect(driver.progress[first] == [[0, -1]])
        #expect(driver.progress[waiting] == nil)
        driver.respond(1, expected: 10)
        driver.receive(1, 4)
        driver.finish(1, size: 10)
        #expect(driver.progress[first] == [[0, -1], [0, 10], [4, 10], [10, 10]])
    }

    @Test func theWholeIsReportedOnlyOnce() throws {
        let driver = try Driver()
        let token = try submit(driver)
        driver.respond(1, expected: 10)
        driver.receive(1, 10)
        let late = try submit(driver)
        driver.finish(1, size: 10)
        #expect(driver.progress[token] == [[0, -1], [0, 10], [10, 10]])
        #expect(driver.progress[late] == [[0, -1], [0, 10], [10, 10]])
    }

    @Test("X28: an unknown size is -1 until the end")
    func anUnknownSizeIsMinusOne() throws {
        let driver = try Driver()
        let token = try submit(driver)
        driver.respond(1, expected: -1)
        driver.receive(1, 4)
        driver.receive(1, 9)
        driver.finish(1, size: 9)
        #expect(driver.progress[token] == [[0, -1], [0, -1], [4, -1], [9, -1], [9, 9]])
    }

    @Test("X24: a refused response brings no count")
    func aRefusedResponseGivesNoCount() throws {
        let driver = try Driver()
        let token = try submit(driver)
        driver.respond(1, 404, expected: 10)
        #expect(driver.progress[token] == [[0, -1]])
    }

    @Test func onlyRequestsForProgressGetItAndALateJoinerGetsTheCurrentCount() throws {
        let driver = try Driver()
        let silent = try driver.submit(0)
        driver.respond(1, expected: 10)
        driver.receive(1, 4)
        let late = try submit(driver)
        #expect(driver.progress[late] == [[0, -1], [0, 10], [4, 10]])
        driver.finish(1, size: 10)
        let latest = try submit(driver)
        #expect(driver.progress[latest] == [[0, -1], [0, 10], [10, 10]])
        #expect(driver.progress[silent] == nil)
    }

    @Test("G3: the default leaves nothing out")
    func leavesNothingOutByDefault() throws {
        #expect(DownloaderConfiguration().minProgressInterval == 0)
        #expect(DownloaderConfiguration().minProgressMilliseconds == 0)
        let driver = try Driver()
        let token = try submit(driver)
        driver.respond(1, expected: 100)
        for count in 1...50 { driver.receive(1, Int64(count)) }
        #expect(driver.progress[token]?.count == 52)
    }

    @Test("X29 G3: a count that adds less than the fraction of the whole is left out, but never the last")
    func leavesOutCountsThatAddTooLittle() throws {
        let driver = try Driver { $0.progressFraction = 0.51 }
        let token = try submit(driver)
        driver.respond(1, expected: 100)
        for count in 1...100 { driver.receive(1, Int64(count)) }
        driver.finish(1, size: 100)
        #expect(driver.progress[token] == [[0, -1], [0, 100], [51, 100], [100, 100]])
    }

    @Test("X29: a fraction of an unknown size means nothing")
    func aFractionOfAnUnknownSizeIsIgnored() throws {
        let driver = try Driver { $0.progressFraction = 1 }
        let token = try submit(driver)
        driver.respond(1, expected: -1)
        driver.receive(1, 1)
        driver.receive(1, 2)
        #expect(driver.progress[token] == [[0, -1], [0, -1], [1, -1], [2, -1]])
    }

    @Test("G3: a count too soon after the last reported one is left out, but never the last")
    func leavesOutCountsThatComeTooSoon() throws {
        let driver = try Driver { $0.progressMicroseconds = 1000 }
        let token = try submit(driver)
        driver.respond(1, expected: 100)
        for count in [10, 20, 30, 40] as [Int64] {
            driver.receive(1, count)
            driver.now += 500
        }
        driver.finish(1, size: 100)
        #expect(driver.progress[token] == [[0, -1], [0, 100], [10, 100], [30, 100], [100, 100]])
    }

    @Test("G3 Z4: each request has its own last reported count")
    func eachRequestHasItsOwnCount() throws {
        let driver = try Driver { $0.progressFraction = 0.5 }
        let first = try submit(driver)
        driver.respond(1, expected: 100)
        driver.receive(1, 40)
        let second = try submit(driver)
        driver.receive(1, 60)
        driver.receive(1, 90)
        #expect(driver.progress[first] == [[0, -1], [0, 100], [60, 100]])
        #expect(driver.progress[second] == [[0, -1], [0, 100], [40, 100], [90, 100]])
    }
}
