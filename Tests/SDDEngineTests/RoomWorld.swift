import Glibc
import SDDBase
import SDDTransport
import TestSupport
import Testing

@testable import SDDCoders
@testable import SDDEngine

/// Several downloaders of one process with little memory for pictures, without threads. Tables, accounts and decoders
/// are the real ones; the test plays the network, the decode threads and the deliveries, each as far as it can
/// continue. If none can and a request has not ended, the library would hang.
final class RoomWorld {
    /// The bytes that a transfer has received, and its state.
    struct Transfer {
        let body: Bytes
        var hasResponded = false
        var isShown = false
        var isPaused = false
        var received = 0
        /// The server sends nothing more for now.
        var isStuck: Bool
    }

    enum Thread {
        case idle
        /// Looking for work.
        case awake
        case busy(DecodeWork, PictureStream, Decoded)
    }

    /// One downloader with its network and threads.
    final class Site {
        let driver: Driver
        let accounts: [DecodeAccount]
        var transfers: [UInt64: Transfer] = [:]
        var threads: [Thread]
        /// The number of threads that should look for work once more, as `WorkerPool` counts them. The accounts' bells
        /// add to it.
        private let wanted = Monitor(0)
        /// Requests whose end is reported at once.
        var prompt: Set<UInt64> = []
        /// Ends that wait for delivery, and the request that the running callback waits for.
        var queue: [UInt64] = []
        var blockedFor: (site: Site, token: UInt64)?
        var seenEnds = 0

        init(_ memory: DecodeMemory, threads count: Int, _ set: (inout Driver.Table.Rules) -> Void) throws {
            accounts = [memory.makeAccount(), memory.makeAccount(keepsUndelivered: false)]
            driver = try Driver(room: RoomLines(accounts[0], prompt: accounts[1]), set)
            threads = Array(repeating: .idle, count: count)
            for account in accounts { account.setBell { [wanted] in wanted.withLock { $0 = min(count, $0 + 1) } } }
        }

        func wake(_ count: Int) { wanted.withLock { $0 = min(threads.count, $0 + count) } }

        var isWanted: Bool { wanted.withLock { $0 > 0 } }

        func takeOne() { wanted.withLock { $0 -= 1 } }

        /// Handles all effects of an event.
        func settle() {
            wake(driver.table.takeWakes().decoders)
            for token in driver.endOrder[seenEnds...] {
                if prompt.contains(token) { driver.ended[token]?.delivered() } else { queue.append(token) }
            }
            seenEnds = driver.endOrder.count
        }
    }

    let memory = DecodeMemory()
    private(set) var sites: [Site] = []
    var random: SeededRandom
    /// Whether callbacks may block and servers may fall silent; false once the walk ends.
    var isWild = true
    /// The number of complete bodies that got no memory, and of arriving ones that had to free theirs.
    private(set) var refused = 0
    private(set) var takenBack = 0

    init(seed: UInt64) throws {
        random = SeededRandom(seed: seed)
        memory.setLimit(Int.random(in: 1...120_000, using: &random))
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let concurrent = Int.random(in: 3...6, using: &random)
            let threads = Int.random(in: 1...8, using: &random)
            sites.append(
                try Site(memory, threads: threads) {
                    $0.maxConcurrent = concurrent
                    ($0.progressive.leastBytes, $0.progressive.patience, $0.progressive.streams) = (500, 0, threads)
                    $0.progressive.previewMicroseconds = 0
                })
        }
    }

    func happens(one inSo: Int) -> Bool { Int.random(in: 0..<inSo, using: &random) == 0 }

    /// Bodies whose pictures take from 3 KB to 80 KB.
    static let bodies: [Bytes] = [(30, 25), (60, 40), (100, 70), (160, 125)].map { width, height in
        // The process ends here if there is no memory.
        let pixels = PixelBuffer(width: width, height: height, format: .rgba8)!
        var noise = SeededRandom(seed: UInt64(width))
        for offset in 0..<pixels.byteCount {
            pixels.base.storeBytes(of: UInt8.random(in: 0...255, using: &noise), toByteOffset: offset, as: UInt8.self)
        }
        return try! ImageEncoder.encode(pixels, EncodeOptions(format: .png))
    }
}

// MARK: - Applications

extension RoomWorld {
    var randomSite: Site { sites[Int.random(in: 0..<sites.count, using: &random)] }

    @discardableResult
    func submit(to site: Site, isPrompt: Bool) throws -> UInt64 {
        let number = Int.random(in: 0..<12, using: &random)
        let priority = Priority.allCases.randomElement(using: &random) ?? .normal
        let isPlain = happens(one: 3)
        let token = site.driver.lastToken + 1
        // This comes before the request's end, which may come at once.
        if isPrompt { site.prompt.insert(token) }
        try site.driver.submit(number, priority: priority) {
            $0.isPrompt = isPrompt
            if isPlain { return }
            $0.wantsPixels = !happens(one: 8)
            $0.form = DecodeOptions(format: happens(one: 3) ? .bgra8 : .rgba8)
            $0.form.isLazy = happens(one: 8)
            $0.wantsPreviews = $0.wantsPixels && !isPrompt && happens(one: 2)
            $0.wantsFacts = happens(one: 4)
            $0.endsEarly = $0.wantsPixels && happens(one: 3)
        }
        site.settle()
        return token
    }

    func interfere() throws {
        let site = randomSite
        let token = UInt64.random(in: 0...site.driver.lastToken, using: &random)
        switch Int.random(in: 0..<8, using: &random) {
        case 0..<3: site.driver.setPriority(Priority.allCases.randomElement(using: &random) ?? .normal, of: token)
        case 3..<5: site.driver.cancel(token)
        case 5: memory.setLimit(Int.random(in: 1...120_000, using: &random))
        default: try submit(to: site, isPrompt: happens(one: 3))
        }
        site.settle()
    }

    /// Continues a delivery: it begins the next callback, or a blocked callback returns.
    func deliver(at site: Site) throws -> Bool {
        if let (other, token) = site.blockedFor {
            guard other.driver.ended[token] != nil else { return false }
            site.blockedFor = nil
            return true
        }
        guard !site.queue.isEmpty else { return false }
        let token = site.queue.removeFirst()
        site.driver.ended[token]?.delivered()
        if isWild, happens(one: 3) {
            // The request goes to this downloader or to another, whose own delivery may be blocked by a request of this
            // one.
            let other = randomSite
            site.blockedFor = (other, try submit(to: other, isPrompt: true))
        }
        return true
    }
}

// MARK: - Networks

extension RoomWorld {
    /// Runs one turn of the loop, and delivers some more bytes of one body.
    func network(of site: Site) throws -> Bool {
        let commands = site.driver.commands()
        for order in commands { obey(order, at: site) }
        let able = site.transfers.filter { !$0.value.isPaused && !$0.value.isStuck }.keys.sorted()
        if let id = able.randomElement(using: &random) { bring(id, at: site) }
        site.settle()
        return !commands.isEmpty || !able.isEmpty
    }

    private func obey(_ order: Order, at site: Site) {
        switch order {
        case .start(let id, _):
            let path = site.driver.table.jobs[id]?.request.url.text.split(separator: "/").last.flatMap { Int($0) }
            let body = Self.bodies[(path ?? 0) % Self.bodies.count]
            // At least one slot stays free, since a server that is silent for ever would keep it.
            let stuck = site.transfers.values.count { $0.isStuck }
            site.transfers[id] = Transfer(body: body, isStuck: isWild && stuck < 2 && happens(one: 4))
        case .cancel(let id): site.transfers[id] = nil
        case .pause(let id): site.transfers[id]?.isPaused = true
        case .resume(let id): site.transfers[id]?.isPaused = false
        case .show(let id): site.transfers[id]?.isShown = true
        case .setPriority: break
        }
    }

    /// Delivers a body in several pieces.
    private func bring(_ id: UInt64, at site: Site) {
        guard let transfer = site.transfers[id] else { return }
        if !transfer.hasResponded {
            site.transfers[id]?.hasResponded = true
            return site.driver.respond(id, expected: Int64(transfer.body.count))
        }
        let received = min(
            transfer.body.count, transfer.received + Int.random(in: 1...max(1, transfer.body.count / 2), using: &random)
        )
        site.transfers[id]?.received = received
        site.driver.receive(id, Int64(received))
        if transfer.isShown { site.driver.report(.body(TransferID(id), Self.beginning(of: transfer.body, received))) }
        if received == transfer.body.count {
            site.transfers[id] = nil
            site.driver.finish(id, .success(transfer.body))
        }
    }

    private static func beginning(of body: Bytes, _ count: Int) -> Bytes {
        // The process ends here if there is no memory.
        Bytes(copying: UnsafeRawBufferPointer(rebasing: body.pointer[..<count]))!
    }

    /// Silences a server that has sent a part.
    func fallSilent() {
        let site = randomSite
        guard let id = site.transfers.keys.sorted().randomElement(using: &random) else { return }
        if site.transfers.values.count(where: { $0.isStuck }) < 2 { site.transfers[id]?.isStuck = true }
    }

    func speakAgain() {
        for site in sites {
            for id in site.transfers.keys { site.transfers[id]?.isStuck = false }
        }
    }
}

// MARK: - Decode threads

extension RoomWorld {
    /// Runs the next step of a thread of a downloader.
    func decode(at site: Site) -> Bool {
        let able = site.threads.indices.filter { index in
            if case .idle = site.threads[index] { site.isWanted } else { true }
        }
        guard let index = able.randomElement(using: &random) else { return false }
        switch site.threads[index] {
        case .idle:
            site.takeOne()
            site.threads[index] = .awake
        case .awake: site.threads[index] = site.driver.nextWork().map { begin($0) } ?? .idle
        case .busy(let work, let stream, let outcome):
            site.threads[index] = .awake
            end(work, stream, outcome, at: site)
        }
        site.settle()
        return true
    }

    /// Does all of the work at once; its result is reported later, and the memory is kept until then.
    private func begin(_ work: DecodeWork) -> Thread {
        switch work.step {
        case .decode(let forms, let progressive):
            let stream =
                progressive
                ?? PictureStream(
                    limits: DecodeLimits(), registry: .builtIn, memory: work.memory, granted: work.room)
            return .busy(
                work, stream,
                Decoded { () throws(CoderError) in try stream.read(work.bytes, forms: forms, isLast: true) })
        case .advance(let stream, let part):
            return .busy(
                work, stream,
                Decoded { () throws(CoderError) in
                    try stream.read(
                        work.bytes, forms: part.forms, isLast: false,
                        previewScans: part.wantsPreviews ? part.leastScans : nil, endsEarly: part.endsEarly)
                })
        case .process:
            Issue.record("no body work was requested")
            return .awake
        }
    }

    private func end(_ work: DecodeWork, _ stream: PictureStream, _ outcome: Decoded, at site: Site) {
        let lacksRoom = (try? outcome.get())?.lacksRoom != nil
        if case .advance = work.step {
            let progressive = site.driver.table.jobs[work.id.number]?.progressive
            takenBack += progressive?.isTakenBack == true || lacksRoom ? 1 : 0
        } else {
            refused += lacksRoom ? 1 : 0
        }
        site.driver.play { table in
            if case .advance = work.step {
                table.advanced(work.id, outcome, at: site.driver.now)
            } else {
                table.decoded(work.id, outcome, stream.facts, at: site.driver.now)
            }
        }
    }
}
