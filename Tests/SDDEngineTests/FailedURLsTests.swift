import Testing

@testable import SDDEngine

/// Blocked URLs and the end of their block. Times are in microseconds; each case is computed by hand.
@Suite struct FailedURLsTests {
    private let second: Int64 = 1_000_000
    private let corrupt = DownloadError(.badImageData, .imageCorrupt, "")
    private let status = DownloadError(.invalidStatusCode, .none, "")
    private let lost = DownloadError(.connectionLost, .none, "")

    /// Lets a URL fail once for each of `waits`, each time at the very end of the wait before, and checks each wait.
    private func checkWaits(
        _ waits: [Int64], _ error: DownloadError, status: Int32 = 0, in failed: inout FailedURLs
    ) {
        var now: Int64 = 5 * second
        for wait in waits {
            failed.record("a", error, status: status, retryAfter: nil, at: now)
            #expect(failed.isBlocked("a", at: now))
            #expect(failed.isBlocked("a", at: now + wait * second - 1), "\(wait)")
            #expect(!failed.isBlocked("a", at: now + wait * second), "\(wait)")
            now += wait * second
        }
    }

    @Test("F1 F5: a URL that has not failed is not blocked")
    func aURLThatHasNotFailedIsNotBlocked() {
        var failed = FailedURLs()
        failed.record("a", corrupt, status: 0, retryAfter: nil, at: 0)
        #expect(failed.isBlocked("a", at: 0) && !failed.isBlocked("b", at: 0))
        #expect(failed.count == 1)
    }

    @Test("F1: keys that are canonically equal, but of other bytes, are different keys")
    func bytesMakeTheKey() {
        var failed = FailedURLs()
        failed.record("\u{e9}", corrupt, status: 0, retryAfter: nil, at: 0)
        #expect(failed.isBlocked("\u{e9}", at: 0) && !failed.isBlocked("e\u{301}", at: 0))
    }

    @Test("F7: the wait doubles from 1 s to 5 min")
    func theWaitDoubles() {
        var failed = FailedURLs()
        checkWaits([1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300], corrupt, in: &failed)
    }

    @Test("F7: for a URL that is gone the wait doubles from 1 min to 1 h")
    func forAURLThatIsGoneTheWaitDoublesToAnHour() {
        var failed = FailedURLs()
        checkWaits([60, 120, 240, 480, 960, 1920, 3600, 3600], status, status: 404, in: &failed)
    }

    @Test("F7: loads that began earlier and fail during the wait do not make it longer")
    func failuresInTheWaitDoNotMakeItLonger() {
        var failed = FailedURLs()
        for now in [0, 0, 1, 2] as [Int64] { failed.record("a", corrupt, status: 0, retryAfter: nil, at: now) }
        #expect(!failed.isBlocked("a", at: second + 2))
        failed.record("a", corrupt, status: 0, retryAfter: nil, at: 2 * second)
        failed.record("a", corrupt, status: 0, retryAfter: nil, at: 2 * second)
        #expect(failed.isBlocked("a", at: 4 * second - 1) && !failed.isBlocked("a", at: 4 * second))
    }

    @Test("F7: if the URL turns out to be gone, the wait becomes as long as for that")
    func theWaitBecomesLongerForAURLThatIsGone() {
        var failed = FailedURLs()
        failed.record("a", status, status: 500, retryAfter: nil, at: 0)
        failed.record("a", status, status: 410, retryAfter: nil, at: second / 2)
        #expect(failed.isBlocked("a", at: 60 * second) && !failed.isBlocked("a", at: 61 * second))
    }

    @Test("F7: a URL that was gone and is only failing now waits no longer than a failing one")
    func aURLThatIsOnlyFailingNowWaitsNoLongerThanThat() {
        var failed = FailedURLs()
        failed.record("a", status, status: 404, retryAfter: nil, at: 0)
        failed.record("a", status, status: 500, retryAfter: nil, at: 60 * second)
        #expect(failed.isBlocked("a", at: 180 * second - 1) && !failed.isBlocked("a", at: 180 * second))
        for now in [180, 420] as [Int64] { failed.record("a", status, status: 500, retryAfter: nil, at: now * second) }
        #expect(failed.isBlocked("a", at: 720 * second - 1) && !failed.isBlocked("a", at: 720 * second))
    }

    @Test("F7: Retry-After is respected if it is longer, up to a day")
    func retryAfterIsRespected() {
        var failed = FailedURLs()
        failed.record("a", status, status: 503, retryAfter: 90 * second, at: 0)
        #expect(failed.isBlocked("a", at: 90 * second - 1) && !failed.isBlocked("a", at: 90 * second))
        failed.record("b", status, status: 404, retryAfter: 40 * second, at: 0)
        #expect(failed.isBlocked("b", at: 60 * second - 1) && !failed.isBlocked("b", at: 60 * second))
        // This wait does not count as our own, so the next one is twice the second that ours would have been.
        failed.record("a", status, status: 503, retryAfter: nil, at: 90 * second)
        #expect(failed.isBlocked("a", at: 92 * second - 1) && !failed.isBlocked("a", at: 92 * second))
        for (key, asked) in [("c", Int64.max), ("d", Int64.min), ("e", -1)] {
            failed.record(key, status, status: 429, retryAfter: asked, at: 0)
        }
        #expect(failed.isBlocked("c", at: 86_400 * second - 1) && !failed.isBlocked("c", at: 86_400 * second))
        #expect(failed.isBlocked("d", at: second - 1) && !failed.isBlocked("d", at: second))
        #expect(failed.isBlocked("e", at: second - 1) && !failed.isBlocked("e", at: second))
    }

    @Test("F7: Retry-After in the middle of a wait makes it longer, and never shorter")
    func retryAfterInAWaitMakesItLonger() {
        var failed = FailedURLs()
        failed.record("a", status, status: 503, retryAfter: 60 * second, at: 0)
        failed.record("a", status, status: 503, retryAfter: 30 * second, at: second)
        #expect(failed.isBlocked("a", at: 60 * second - 1) && !failed.isBlocked("a", at: 60 * second))
        failed.record("b", status, status: 503, retryAfter: 60 * second, at: 0)
        failed.record("b", status, status: 503, retryAfter: 60 * second, at: second)
        #expect(failed.isBlocked("b", at: 61 * second - 1) && !failed.isBlocked("b", at: 61 * second))
    }

    @Test("F7: an hour after its wait a URL is forgotten")
    func anHourAfterItsWaitAURLIsForgotten() {
        var failed = FailedURLs()
        for key in ["a", "b"] { failed.record(key, corrupt, status: 0, retryAfter: nil, at: 0) }
        failed.record("a", corrupt, status: 0, retryAfter: nil, at: 3601 * second - 1)
        #expect(failed.isBlocked("a", at: 3602 * second))
        failed.record("b", corrupt, status: 0, retryAfter: nil, at: 3601 * second)
        #expect(!failed.isBlocked("b", at: 3602 * second))
    }

    @Test("F7: a lost connection neither blocks a URL nor clears its earlier failures")
    func aLostConnectionNeitherBlocksNorClears() {
        var failed = FailedURLs()
        failed.record("a", lost, status: 0, retryAfter: nil, at: 0)
        #expect(!failed.isBlocked("a", at: 0) && failed.count == 0)
        failed.record("a", corrupt, status: 0, retryAfter: nil, at: 0)
        failed.record("a", lost, status: 0, retryAfter: nil, at: second)
        #expect(!failed.isBlocked("a", at: second))
        failed.record("a", corrupt, status: 0, retryAfter: nil, at: second)
        #expect(failed.isBlocked("a", at: 3 * second - 1))
    }

    @Test("F6 M18: any success removes the URL from the list")
    func anySuccessRemovesTheURL() {
        var failed = FailedURLs()
        failed.record("a", corrupt, status: 0, retryAfter: nil, at: 0)
        failed.succeeded("a")
        #expect(!failed.isBlocked("a", at: 0) && failed.count == 0)
        checkWaits([1, 2], corrupt, in: &failed)
    }

    @Test("F6: removes one URL or all")
    func removesOneURLOrAll() {
        var failed = FailedURLs(policy: .sdWebImage)
        for key in ["a", "b", "c"] { failed.record(key, corrupt, status: 0, retryAfter: nil, at: 0) }
        #expect(failed.remove("b") && !failed.remove("b"))
        #expect(failed.isBlocked("a", at: 1) && !failed.isBlocked("b", at: 1))
        failed.removeAll()
        #expect(failed.count == 0 && !failed.isBlocked("a", at: 1))
        // The list keeps working as before, with the same policy.
        failed.record("a", corrupt, status: 0, retryAfter: nil, at: 0)
        #expect(failed.isBlocked("a", at: .max - 1))
    }

    @Test("F4: the permanent policy blocks for ever")
    func thePermanentPolicyBlocksForEver() {
        var failed = FailedURLs(policy: .sdWebImage)
        for now in [1, second, .max - 5] as [Int64] {
            failed.record("a", corrupt, status: 0, retryAfter: second, at: now)
        }
        #expect(failed.isBlocked("a", at: .max - 1) && failed.count == 1)
        failed.record("b", status, status: 404, retryAfter: nil, at: 0)
        #expect(!failed.isBlocked("b", at: 0))
    }

    @Test("F7: off remembers nothing, but the application's decision still counts (M23)")
    func offRemembersNothing() {
        var failed = FailedURLs(policy: .off)
        failed.record("a", corrupt, status: 0, retryAfter: nil, at: 0)
        #expect(failed.count == 0)
        failed.record("a", corrupt, status: 0, retryAfter: nil, decision: true, at: 0)
        #expect(failed.isBlocked("a", at: second - 1) && !failed.isBlocked("a", at: second))
    }

    @Test("F1: there are never more than 4096, and the oldest failure goes first")
    func theOldestFailureIsDroppedFirst() {
        var failed = FailedURLs(policy: .sdWebImage)
        for number in 0..<4096 { failed.record("\(number)", corrupt, status: 0, retryAfter: nil, at: 0) }
        failed.record("0", corrupt, status: 0, retryAfter: nil, at: 1)
        failed.record("new", corrupt, status: 0, retryAfter: nil, at: 2)
        #expect(failed.count == 4096)
        #expect(failed.isBlocked("0", at: 2) && !failed.isBlocked("1", at: 2) && failed.isBlocked("2", at: 2))
        #expect(failed.isBlocked("new", at: 2))
    }

    @Test("F1: long URLs count for more: 4 MiB of them in all")
    func longURLsCountForMore() {
        var failed = FailedURLs()
        let long = String(repeating: "x", count: 65_535)
        // 64 URLs of 65,536 bytes are 4 MiB.
        for number in 0..<70 {
            let digit = String(UnicodeScalar(UInt8(40 + number)))
            failed.record(long + digit, corrupt, status: 0, retryAfter: nil, at: 0)
        }
        #expect(failed.count == 64)
        let tooLong = String(repeating: "y", count: (4 << 20) + 1)
        failed.record(tooLong, corrupt, status: 0, retryAfter: nil, at: 0)
        #expect(failed.count == 64 && !failed.isBlocked(tooLong, at: 0))
    }

    @Test("M4: an empty URL is not remembered")
    func anEmptyURLIsNotRemembered() {
        var failed = FailedURLs()
        failed.record("", DownloadError(.invalidURL, .urlEmpty, ""), status: 0, retryAfter: nil, at: 0)
        #expect(failed.count == 0 && !failed.isBlocked("", at: 0))
    }
}
