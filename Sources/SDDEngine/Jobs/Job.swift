import SDDBase
import SDDCaches
import SDDCoders
import SDDTransport

/// One transfer with the handlers that wait for it: asking → waiting → (claiming →) running → received → working →
/// finished; or, from a running transfer that has failed, → pausing → asking or waiting. Owned by the `DownloadTable`,
/// and touched only under its lock. A class, so that events change it in place. Listeners are objects by type: for any
/// type, the end of each job would ask the Swift runtime for five generic types.
final class Job<Recipient: AnyObject> {
    /// One request that waits for the job.
    struct Handler {
        let token: UInt64
        let listener: Recipient
        /// The caller's request, with its own form of the pixels and its own limits; other handlers of the job have
        /// others.
        let request: DownloadRequest
        var priority: Priority
        let submitted: Int64
        /// Most transfers for this handler.
        let maxAttempts: Int32
        /// The attempts that the job had made before this handler joined.
        var attemptsBefore: Int32 = 0
        /// Whether it has been given a preview.
        var isShown = false
        /// The last progress reported: bytes and time.
        var told: (count: Int64, time: Int64) = (0, .min)

        /// - Parameter maxAttempts: the downloader's rule, for a request that has none of its own.
        init(token: UInt64, _ listener: Recipient, _ request: DownloadRequest, maxAttempts: Int32, since time: Int64) {
            self.token = token
            self.listener = listener
            self.request = request
            priority = request.priority
            submitted = time
            self.maxAttempts = request.maxAttempts > 0 ? request.maxAttempts : maxAttempts
        }

        var wantsPixels: Bool { request.wantsPixels }
        var form: DecodeOptions { request.form }
        var wantsProgress: Bool { request.wantsProgress }
        var wantsPreviews: Bool { request.wantsPreviews }
        var wantsFacts: Bool { request.wantsFacts }
        var endsEarly: Bool { request.endsEarly }
        var continuesInBackground: Bool { request.continuesInBackground }
        var acceptance: Acceptance { request.acceptance }
        /// True for a stage of a load: loads are counted in the statistics, their stages are not.
        var isStage: Bool { request.isStage }
        /// See `Job.isPrompt`.
        var isPrompt: Bool { request.isPrompt }
        /// The keeper of the original, if the original is to be stored.
        var keeper: OriginalKeeper? { request.keeper }
        /// The keeper of the image, if it is to be in memory.
        var pixelKeeper: PictureKeeper? { request.pixelKeeper }
        var search: MemorySearch? { request.search }
        /// Microseconds from submission to its first transfer; 0 means no limit.
        var queueLimit: Int64 { request.queueLimit }
    }

    enum Stage {
        /// A cache lookup is under way.
        case asking
        case waiting(WaitingPlace)
        /// Its turn has come and it counts as running; it asks for the claim to download.
        case claiming
        /// The transfer is on the network.
        case running
        /// The body is complete and waits for a decode thread.
        case received(PriorityBuckets<TransferID>.Place)
        /// The body is complete, and there is no room for the image.
        case lacking(RoomLines.Place)
        /// A decode thread works on the body.
        case working
        /// The transfer has failed, and the next one begins after a pause.
        case pausing

        var isAsking: Bool { if case .asking = self { true } else { false } }
    }

    /// The id of the transfer; each attempt has a new one.
    var id: TransferID
    /// Whether other requests may join it.
    let isShared: Bool
    /// The hash key of the request.
    let hashKey: UInt64
    /// The next job in the table whose request has the same hash key; see `JobIndex`.
    var nextShared: Job?
    /// The request as it is sent.
    var request: HTTPRequest
    /// The request as it was submitted; other requests are compared with this.
    let original: HTTPRequest
    let bodyWork: BodyWork?
    /// The token of the request that created the job.
    let firstToken: UInt64
    var handlers: Handlers<Recipient>
    var stage: Stage { didSet { tally?.changed(from: oldValue.isAsking, to: stage.isAsking) } }
    /// The counter of the index that holds the job.
    private var tally: Tally?
    /// The priority of the most urgent handler, raised by `boost`.
    var priority: Priority
    /// Priority levels gained by waiting for long.
    var boost: Int32 = 0
    var isPaused = false

    /// Transfers begun. A request that is sent again without its condition counts as the same attempt.
    var attempts: Int32 = 0
    /// The start of this attempt; 0 before it.
    var started: Int64 = 0
    var head: ResponseHead?
    var responded: Int64 = 0
    var received: Int64 = 0
    /// Bytes counted in the statistics while the transfer runs.
    var receivingBytes: Int64 = 0
    /// The end of the transfer, as the network reported it.
    var end: TransferEnd?
    var finished: Int64 = 0
    var body: Bytes?
    /// The body may be incomplete, as nothing proves its end: no cache may store it.
    var isEndUnproven = false
    /// Set once the response has been judged; handlers that join later are judged by it.
    var judged: Judged?
    /// Whether the application's work on the body is still to be done, or under way.
    var needsBodyWork: Bool
    var workBegan: Int64 = 0
    /// True if a handler is told its end immediately, or was to be: a thread may be blocked until then. Such a job has
    /// queues of its own for room and for its turn on the network, and never waits behind jobs that wait for a
    /// delivery.
    var isPrompt: Bool
    /// Bytes that the image takes while it is decoded; set when there was no room for it.
    var roomNeeded = 0
    /// Whether a decode thread writes pixels, perhaps to memory lent by callers.
    var isWriting = false
    /// Tells the process that decodes the body, if it is another one, that nobody waits for the picture any more.
    var decodeStop: DecodeStop?
    /// The progressive decode of the body, while it runs and afterwards.
    var progressive: ProgressiveDecode?
    /// Keepers that have the original, or get it as soon as it has proved to be an image.
    var kept: [OriginalKeeper] = []

    /// The job's use of a cache; `nil` if it uses none.
    private(set) var caching: Caching?
    /// The lookup that the job uses if it turns out to need a claim to download.
    let claiming: ClaimIfShared?
    /// Tells other processes of the download, if they need to be told of no claim.
    var mark: DownloadMark?
    /// Whether the original may have been stored after the load looked for it.
    var mustLookAgain = false

    init(id: TransferID, _ request: DownloadRequest, _ handler: Handler, _ stage: Stage) {
        self.id = id
        isShared = request.isShareable
        hashKey = request.hashKey
        self.request = request.transfer
        original = request.transfer
        caching = request.lookup.map { Caching($0) }
        claiming = request.lookup == nil ? request.claiming : nil
        bodyWork = request.bodyWork
        needsBodyWork = request.bodyWork != nil
        handlers = Handlers(handler)
        firstToken = handler.token
        isPrompt = handler.isPrompt
        self.stage = stage
        priority = handler.priority
    }

    /// Makes the job use a cache that it did without so far.
    func useCache(_ lookup: HTTPCacheLookup) {
        let made = Caching(lookup)
        for handler in handlers { made.joined(with: handler.request.anyLookup) }
        caching = made
    }

    /// Counts the job among those of a table.
    func enterTable(_ tally: Tally) {
        self.tally = tally
        tally.changed(from: false, to: stage.isAsking)
    }

    /// Stops counting the job among those of its table.
    func leaveTable() {
        tally?.changed(from: stage.isAsking, to: false)
        tally = nil
    }

    /// Counts the jobs of a table that are in a cache lookup, so that the table need not be searched.
    final class Tally {
        private(set) var asking = 0

        fileprivate func changed(from wasAsking: Bool, to isAsking: Bool) {
            if wasAsking != isAsking { asking += isAsking ? 1 : -1 }
        }
    }

    var host: UInt64 { request.hostKey }

    /// The response received so far, or at the end.
    var response: Response? { end?.response ?? head?.response }
    /// The response shown to the application, which may have changed its header fields.
    var shownResponse: Response? { judged?.changed ?? response }

    /// The job's cache lookup, its result, and the content to be stored.
    final class Caching {
        let lookup: any CacheLookup
        /// True if a handler has joined with another lookup, or with none; see `LookupResult.forAll`.
        private(set) var servesOthers = false
        /// The time when the cache had answered.
        var answered: Int64 = 0
        /// The wish to read entries for the lookup, which is withdrawn if the job ends before.
        var wish: DiskRead?
        var origin = DownloadResult.Origin.network
        var extended: Bytes?
        /// See `CacheHit.handsOutBytes`.
        var handsOutBytes = true
        /// The body was transformed before it was stored.
        var isMade = false
        /// The body is the original of the wanted image.
        var isOfOriginal = false
        /// The keeper that gets the decoded pixels.
        var keeper: PictureKeeper?
        /// The request fields that the found entry was selected by; see `CacheHit`.
        var selection: Bytes?
        var revalidation: Revalidation?
        /// Asks for the claim to download, once the job's turn has come.
        var turn: HTTPLookupJob?
        /// The decision on the response, to be carried out when the job is removed.
        var outcome: Revalidation.Outcome?
        /// True if the server's response does not fit the condition it was sent: the request must be sent again.
        var asksAgain = false
        /// See `LookupContext.distrustsStored`.
        var distrustsStored = false
        var saver: PartSaver?
        /// The saver of the previous attempt, which may still be writing.
        var lastSaver: PartSaver?

        init(_ lookup: any CacheLookup) { self.lookup = lookup }

        func joined(with other: (any CacheLookup)?) {
            if other.map({ lookup.isSame(as: $0) }) != true { servesOthers = true }
        }

        /// Resets what was found, since the cache will be asked again.
        func startOver() {
            (origin, extended, keeper, outcome, asksAgain) = (.network, nil, nil, nil, false)
            selection = nil
        }
    }

    /// A progressive decode: an image made from the part of the body that has arrived.
    final class ProgressiveDecode {
        /// `nil` if no more is decoded before the body is complete.
        var stream: PictureStream?
        /// The facts of the image, once they are known.
        var facts: ImageFacts?
        var body: Bytes?
        /// Bytes of the body that the stream has been given.
        var read = 0
        /// Its place in the queue for a decode thread.
        var place: PriorityBuckets<TransferID>.Place?
        var isWorking = false
        var began: Int64 = 0
        /// The last byte has arrived during a step.
        var bodyWaits = false
        /// True if a handler that joined late is to get a preview at once, of the data there is.
        var owesPreview = false
        /// True if a handler that joined late is to get the facts, if the data there is has them.
        var owesFacts = false
        /// Whether the step's previews go to all handlers; otherwise only to those that have had none.
        var showsAll = false
        /// The last preview: when it was made, how long that took, and from how many bytes.
        var previewed: (time: Int64, cost: Int64, bytes: Int)?

        /// No handler wanted more of it; for a later handler it may start again.
        var isIdle = false
        /// Whether the stream may leave the body for later in its step: nobody watches it.
        var mayWait = false
        /// The stream has found that the body is better decoded as a whole.
        var wantsWhole = false
        /// There was no room for it, or complete bodies needed its room while a step was under way.
        var isTakenBack = false
        /// After its room was taken back, the bytes of the body from which it may start again; 0 means never.
        var beginsAgain = 0

        init(_ stream: PictureStream?) { self.stream = stream }
    }

    var facts: ImageFacts? { progressive?.facts }

    var isRunning: Bool { if case .running = stage { true } else { false } }
    var isAsking: Bool { stage.isAsking }
    var isClaiming: Bool { if case .claiming = stage { true } else { false } }

    /// Whether nothing has been sent for this handler yet.
    func isToBeStarted(for handler: Handler) -> Bool {
        switch stage {
        case .asking, .waiting, .claiming, .pausing: attempts(for: handler) == 0
        case .running, .received, .lacking, .working: false
        }
    }

    func attempts(for handler: Handler) -> Int32 { attempts - handler.attemptsBefore }

    /// Each form that a handler wants, once.
    var forms: [DecodeOptions] {
        var forms = FormIndex()
        handlers.forEach { if $0.wantsPixels { forms.add($0.form) } }
        return forms.forms
    }

    /// Finds the image of all handlers in memory, if that is where an original comes from that was found on disk: who
    /// stores both puts the image into memory first.
    var search: MemorySearch? {
        guard caching?.origin == .disk else { return nil }
        var found: MemorySearch?
        let haveOne = handlers.allSatisfy { handler in
            guard let search = handler.search, found == nil || found?.form == search.form else { return false }
            found = search
            return true
        }
        return haveOne ? found : nil
    }

    /// The forms to decode while the body arrives. Nothing is written to memory lent by a caller before the body is
    /// complete, so that there is only one step in which the caller could not have it back.
    var progressiveForms: [DecodeOptions] {
        handlers.reduce(into: FormIndex()) { forms, handler in
            guard handler.wantsPixels, !handler.form.isLazy, handler.wantsPreviews || !handler.form.isCallers else {
                return
            }
            forms.add(handler.form.ofTheLibrary)
        }.forms
    }

    /// Whether a handler wants more than the final image: previews, facts, or an early end.
    var isWatched: Bool {
        handlers.wantPreviews || handlers.anyEndsEarly || (handlers.wantFacts && facts == nil)
    }

    /// Whether the handler must wait for a decode thread once the body is complete.
    func isDecodedFor(_ handler: Handler) -> Bool { handler.wantsPixels || handler.wantsFacts && lacksFacts }

    /// Whether any handler must wait for a decode thread then.
    var isDecoded: Bool { handlers.wantPixels || handlers.wantFacts && lacksFacts }

    /// Whether the picture's facts are still to be found.
    var lacksFacts: Bool { progressive?.facts == nil && !request.hasSink }

    /// The priority of the most urgent handler, raised by `boost`.
    var wantedPriority: Priority { handlers.priority.raised(by: boost) }
}

// MARK: - Results

extension Job {
    func timings(for handler: Handler, at now: Int64) -> DownloadTimings {
        var timings = DownloadTimings()
        if let answered = caching?.answered, answered > 0 { timings.cache = max(0, answered - handler.submitted) }
        let isFromCache = started == 0 && caching?.origin ?? .network != .network
        timings.queue = started > 0 ? max(0, started - handler.submitted) : isFromCache ? 0 : now - handler.submitted
        if let end {
            timings.transfer = end.timings
        } else if started > 0 {
            // It ended before its transfer did, of which only this is known here.
            timings.transfer = head?.soFar?.timings ?? TransferTimings()
            timings.transfer.total = (finished > 0 ? finished : now) - started
        }
        if finished > 0, handler.wantsPixels { timings.decode = now - max(finished, handler.submitted) }
        timings.total = now - handler.submitted
        return timings
    }

    func metrics(for handler: Handler) -> DownloadMetrics {
        var metrics = DownloadMetrics()
        if let known = end?.metrics ?? head?.soFar?.metrics { metrics.transfer = known }
        if let body, !request.hasSink {
            metrics.bodyBytes = Int64(body.count)
        } else if request.hasSink || end == nil {
            metrics.bodyBytes = end?.metrics.handedOutBytes ?? received
        }
        metrics.attempts = attempts(for: handler)
        if end == nil, started > 0, finished > 0 { metrics.savedBytes = max(0, (head?.expectedBytes ?? 0) - received) }
        return metrics
    }

    func result(
        for handler: Handler, image: Image? = nil, reserved: (any MemoryReserved)? = nil, error: DownloadError? = nil,
        failedAt stage: DownloadResult.Stage? = nil,
        at now: Int64
    ) -> DownloadResult {
        // A comparison with nil would copy the error.
        let isWell = if case nil = error { true } else { false }
        let caching = isWell ? caching : nil
        return DownloadResult(
            image: image, reserved: reserved, bytes: isWell ? bytes(for: handler, image) : nil, error: error,
            stage: stage ?? currentStage,
            response: shownResponse, httpStatus: status(of: error),
            origin: caching?.origin ?? .network, isOfOriginal: caching?.isOfOriginal == true,
            extended: caching?.extended, isEndUnproven: isWell && isEndUnproven,
            timings: timings(for: handler, at: now), metrics: metrics(for: handler), ended: now)
    }

    /// Returns the status that the result names; `nil` means that of the response.
    private func status(of error: DownloadError?) -> Int32? {
        // The response is the stored one, which the server has confirmed.
        if case .notModified? = error?.code, caching?.origin == .httpRevalidated { return 304 }
        return bodyWork?.modifier == nil ? nil : judged?.status
    }

    private func bytes(for handler: Handler, _ image: Image?) -> Bytes? {
        if request.hasSink { return nil }
        if caching?.handsOutBytes != false { return body }
        return handler.form.keepsBytes ? image?.bytes : nil
    }

    /// The stage that a failed transfer had reached. Its header may have been complete without having been reported.
    var stageReached: DownloadResult.Stage {
        guard head == nil, let status = end?.response?.status else { return currentStage }
        // A redirect's status is not that of the response waited for.
        return (300...399).contains(status) ? .response : .body
    }

    /// The current stage, as the header's SDD_STAGE_ constants name it. Until the response header arrives, a transfer
    /// counts as waiting for it.
    var currentStage: DownloadResult.Stage {
        switch stage {
        case .asking, .waiting, .claiming, .pausing: .queue
        case .running: head == nil ? .response : .body
        case .received, .lacking, .working: .decode
        }
    }
}

extension OriginalKeeper {
    /// Whether the HTTP cache has the original under the same key, or is about to.
    func isServed<Recipient: AnyObject>(by caching: Job<Recipient>.Caching?) -> Bool {
        guard let caching, let http = caching.lookup as? HTTPCacheLookup, http.cache === cache,
            http.key.hasSameBytes(as: key)
        else {
            return false
        }
        return caching.origin != .network || caching.outcome?.isWritten == true
    }
}
