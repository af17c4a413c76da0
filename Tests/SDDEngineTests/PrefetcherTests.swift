import SDDBase
import SDDCoders
import TestSupport
import Testing

@testable import SDDEngine

/// Lists through a prefetcher: a loader that is the test's, a downloader that delivers where the test asks.
@Suite struct PrefetcherTests {
    private let transport = FakeTransport()
    private let loader = FakePrefetchLoader()

    private func withPrefetcher(_ body: (Prefetcher, Downloader) throws -> Void) throws {
        let downloader = try transport.makeDownloader(host: true)
        try body(Prefetcher(delivering: downloader), downloader)
        downloader.destroy()
    }

    private func list(_ names: [String], _ loads: (any PrefetchLoading)? = nil) -> PrefetchList {
        let urls = names.map { name -> Result<ImageURL, DownloadError> in
            guard let url = try? Sample.url("http://host/\(name)") else {
                return .failure(DownloadError(.invalidURL, .urlMalformed, "no"))
            }
            return .success(url)
        }
        return PrefetchList(urls: urls, loads: loads ?? loader)
    }

    @Test("B30: URLs are loaded three at a time, and each is told, with the counts, before the end")
    func urlsAreLoadedThreeAtATime() throws {
        try withPrefetcher { prefetcher, downloader in
            let callbacks = PrefetchRecorder()
            let token = try #require(prefetcher.submit(list(["a", "b", "c", "d"]), callbacks: callbacks))
            #expect(loader.running == ["a", "b", "c"])
            loader.end("b", .timeout)
            #expect(loader.running == ["a", "c", "d"])
            for name in ["a", "d", "c"] { loader.end(name) }
            #expect(callbacks.told.isEmpty)
            #expect(try downloader.dispatch(max: 0) == 5)
            #expect(callbacks.told == ["1 failed 1/1/4", "0 2/1/4", "3 3/1/4", "2 4/1/4", "end 4/1/4", "released"])
            #expect(callbacks.tokens == [token])
        }
    }

    @Test("Z1: nothing is told inside the submitting call, and the end of no URLs comes too")
    func nothingIsToldInsideTheSubmittingCall() throws {
        try withPrefetcher { prefetcher, downloader in
            let callbacks = PrefetchRecorder()
            #expect(prefetcher.submit(list([]), callbacks: callbacks) != nil)
            #expect(callbacks.told.isEmpty && prefetcher.listCount == 0)
            let count = try downloader.dispatch(max: 0)
            #expect(count == 1)
            #expect(callbacks.told == ["end 0/0/0", "released"])
        }
    }

    @Test("what is no URL fails alone")
    func whatIsNoURLFailsAlone() throws {
        try withPrefetcher { prefetcher, downloader in
            let callbacks = PrefetchRecorder()
            _ = prefetcher.submit(list(["not a url", "b"]), callbacks: callbacks)
            #expect(loader.running == ["b"])
            loader.end("b")
            while try downloader.dispatch(max: 0) > 0 {}
            #expect(callbacks.told == ["0 failed 1/1/2", "1 2/1/2", "end 2/1/2", "released"])
            #expect(callbacks.reports.last?.outcomes.map(\.error) == [.invalidURL, nil])
            #expect(callbacks.reports.last?.outcomes.map(\.detail) == [.urlMalformed, .none])
        }
    }

    @Test("a loader that takes no more loads ends the list, each URL with the reason")
    func aClosedLoaderEndsTheList() throws {
        try withPrefetcher { prefetcher, downloader in
            loader.isClosed = true
            let callbacks = PrefetchRecorder()
            _ = prefetcher.submit(list(["a", "b", "c", "d", "e"]), callbacks: callbacks)
            while try downloader.dispatch(max: 0) > 0 {}
            #expect(callbacks.told.suffix(2) == ["end 5/5/5", "released"])
            #expect(callbacks.reports.last?.outcomes.allSatisfy { $0.detail == .closed } == true)
        }
    }

    @Test("loads that end inside the call, however many, are no deeper than one", .timeLimit(.minutes(2)))
    func loadsThatEndInsideTheCallAreNoDeeperThanOne() throws {
        try withPrefetcher { prefetcher, downloader in
            loader.endsAtOnce = true
            let callbacks = PrefetchRecorder()
            _ = prefetcher.submit(list((0..<50_000).map { "\($0)" }), callbacks: callbacks)
            while try downloader.dispatch(max: 0) > 0 {}
            #expect(callbacks.told.suffix(2) == ["end 50000/0/50000", "released"])
        }
    }

    @Test("B30: cancel stops the loads, drops what was not told yet, and ends the list once")
    func cancelDropsWhatWasNotTold() throws {
        try withPrefetcher { prefetcher, downloader in
            let callbacks = PrefetchRecorder()
            let token = try #require(prefetcher.submit(list(["a", "b", "c", "d"]), callbacks: callbacks))
            loader.end("a")
            #expect(prefetcher.cancel(token) != nil && prefetcher.cancel(token) == nil)
            #expect(loader.cancelled == ["b", "c", "d"])
            while try downloader.dispatch(max: 0) > 0 {}
            // That a was loaded is in the report.
            #expect(callbacks.told == ["end 1/0/4 cancelled 3", "released"])
            for name in ["b", "c", "d"] { loader.end(name, .cancelled) }
            #expect(try downloader.dispatch(max: 0) == 0)
        }
    }

    @Test("B30 Z5: a list's priority is that of the loads that run, and of those that begin later")
    func aNewPriority() throws {
        try withPrefetcher { prefetcher, downloader in
            let callbacks = PrefetchRecorder()
            let token = try #require(prefetcher.submit(list(["a", "b", "c", "d"]), callbacks: callbacks))
            #expect(prefetcher.information(on: token)?.priority == .veryLow)
            #expect(prefetcher.setPriority(.high, of: token))
            #expect(prefetcher.information(on: token)?.effectivePriority == .high)
            loader.end("a")
            let begun = ["a veryLow", "b veryLow", "c veryLow"]
            #expect(loader.priorities == begun + ["a high", "b high", "c high", "d high"])
            for name in ["b", "c", "d"] { loader.end(name) }
            #expect(!prefetcher.setPriority(.high, of: token) && prefetcher.information(on: token) == nil)
            while try downloader.dispatch(max: 0) > 0 {}
        }
    }

    @Test("a priority that is set while a load begins reaches it, and nothing reaches one that has ended")
    func aPriorityThatIsSetMeanwhile() throws {
        try withPrefetcher { prefetcher, downloader in
            let callbacks = PrefetchRecorder()
            let token = Monitor<UInt64>(0)
            let first = try #require(prefetcher.submit(list(["a", "b", "c", "d"]), callbacks: callbacks))
            token.withLock { $0 = first }
            loader.whenBegun { _ = prefetcher.setPriority(.low, of: token.withLock { $0 }) }
            loader.end("a")
            // d began as very low, and its token came after the change, which reached the others at once.
            #expect(loader.priorities.suffix(4).sorted() == ["b low", "c low", "d low", "d veryLow"])
            loader.whenBegun {}
            for name in ["b", "c", "d"] { loader.end(name) }
            while try downloader.dispatch(max: 0) > 0 {}
        }
    }

    @Test("B30: a cancel inside a URL's callback is the last of the list but the end")
    func aCancelInsideACallback() throws {
        try withPrefetcher { prefetcher, downloader in
            let callbacks = PrefetchRecorder { token in _ = prefetcher.cancel(token) }
            _ = prefetcher.submit(list(["a", "b", "c"]), callbacks: callbacks)
            for name in ["a", "b"] { loader.end(name) }
            while try downloader.dispatch(max: 0) > 0 {}
            #expect(callbacks.told == ["0 1/0/3", "end 2/0/3 cancelled 1", "released"])
        }
    }

    @Test("Z2: a host that drains gets the same, and its data goes with the next call")
    func aHostThatDrainsGetsTheSame() throws {
        try withPrefetcher { prefetcher, downloader in
            let callbacks = PrefetchRecorder()
            _ = prefetcher.submit(list(["a"]), callbacks: callbacks)
            loader.end("a")
            var kinds: [String] = []
            let count = try downloader.drain(max: 10) { event in
                if case .prefetch(_, let event) = event { kinds.append(event.isEnd ? "end" : "step") }
                return nil
            }
            #expect(count == 2 && kinds == ["step", "end"])
            #expect(callbacks.told.isEmpty)
            #expect(try downloader.drain(max: 10) { _ in nil } == 0)
            #expect(callbacks.told == ["released"])
        }
    }

    @Test("Z1: a downloader that is destroyed waits for the ends of lists, and tells them")
    func destroyTellsTheEndsOfLists() throws {
        let downloader = try transport.makeDownloader(host: true)
        let prefetcher = Prefetcher(delivering: downloader)
        let loads = DownloadingLoader(downloader)
        let receivers = (0..<2).map { _ in PrefetchRecorder() }
        for callbacks in receivers { _ = prefetcher.submit(list(["a", "b", "c", "d"], loads), callbacks: callbacks) }
        downloader.destroy()
        for callbacks in receivers { #expect(callbacks.told.suffix(2) == ["end 4/4/4", "released"]) }
        #expect(prefetcher.submit(list(["a"]), callbacks: PrefetchRecorder()) == nil)
        #expect(prefetcher.listCount == 0)
    }

    @Test("closing cancels all lists, and the limit may change meanwhile")
    func closingCancelsAllLists() throws {
        try withPrefetcher { prefetcher, downloader in
            let receivers = (0..<2).map { _ in PrefetchRecorder() }
            for callbacks in receivers { _ = prefetcher.submit(list(["a", "b"]), callbacks: callbacks) }
            prefetcher.setLimit(4)
            #expect(loader.running.count == 4)
            prefetcher.close()
            #expect(loader.cancelled.count == 4)
            while try downloader.dispatch(max: 0) > 0 {}
            for callbacks in receivers { #expect(callbacks.told == ["end 0/0/2 cancelled 2", "released"]) }
        }
    }

    @Test("Z1: threads that end loads while others cancel: each list ends once, in order", .timeLimit(.minutes(2)))
    func threadsEndLoadsWhileOthersCancel() throws {
        let downloader = try transport.makeDownloader()
        let prefetcher = Prefetcher(delivering: downloader)
        let receivers = (0..<60).map { _ in PrefetchRecorder() }
        let names = (0..<20).map { "\($0)" }
        let tokens = receivers.map { prefetcher.submit(list(names), callbacks: $0) }
        let enders = try (0..<2).map { _ in
            try NativeThread(name: "ender") { [loader] in
                while prefetcher.listCount > 0 { loader.endOne() }
            }
        }
        for token in tokens.enumerated().compactMap({ $0.offset % 3 == 0 ? $0.element : nil }) {
            _ = prefetcher.cancel(token)
        }
        for thread in enders { thread.join() }
        downloader.destroy()
        for (number, callbacks) in receivers.enumerated() {
            #expect(callbacks.reports.count == 1 && callbacks.told.last == "released", "list \(number)")
            let told = callbacks.told.dropLast(2)
            // Each step says how many there were: they come in order, and none is missing in the middle.
            #expect(told.map(\.finished) == Array(1..<(told.count + 1)), "list \(number)")
            if callbacks.reports.last?.isCancelled == false { #expect(told.count == 20) }
        }
    }
}

extension String {
    /// "2 1/0/3": 1.
    fileprivate var finished: Int { Int(split(separator: " ").last?.split(separator: "/").first ?? "") ?? -1 }
}
