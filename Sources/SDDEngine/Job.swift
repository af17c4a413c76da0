import SDDBase
import SDDCoders
import SDDTransport

/// One transfer with the handlers that wait for it: asking → waiting → (claiming →) running → received → working → gone, or from
/// running, when it has failed, → pausing → asking or waiting. Owned by the `DownloadTable`, and touched under its lock
/// alone; an object so that events change it where it is.
final class Job<Subscriber> {
    struct Handler {
        let token: UInt64
        let subscriber: Subscriber
        var priority: Priority
        let wantsPixels: Bool
        let form: PixelForm
        let wantsProgress: Bool
        let wantsPreviews: Bool
        let wantsFacts: Bool
        let endsEarly: Bool
        let continuesInBackground: Bool
        let acceptance: Acceptance
        /// A stage of a load: the load is counted, and not its stages.
        let isStage: Bool
        /// See `Job.isPrompt`.
        let isPrompt: Bool
        /// The keeper of the original, if that is to be stored.
        let keeper: OriginalKeeper?
        let submitted: Int64
        /// Microseconds from then to its first transfer; 0: no limit.
        let queueLimit: Int64
        /// Transfers that it may have.
        let maxAttempts: Int32
        /// The attempts that the job had made before this handler came.
        var attemptsBefore: Int32 = 0
        /// It has seen a preview.
        var isShown = false
        /// The last progress told: how much, and when.
        var told: (count: Int64, time: Int64) = (0, .min)
    }

    enum Stage {
        /// A cache is asked first.
        case asking
        case waiting(WaitingQueue.Place)
        /// Its turn has come, and it has a place among those that run; the right to download is being asked for.
        case claiming
        /// On the network.
        case running
        /// The whole body is there, and waits for a decode thread.
        case received(PriorityBuckets<TransferID>.Place)
        /// The whole body is there, and there is no room for the picture.
        case lacking(RoomLines.Place)
        /// A decode thread is at it.
        case working
        /// The transfer has failed, and the next one is to begin later.
        case pausing

        var isAsking: Bool { if case .asking = self { true } else { false } }
    }

    /// Another one for each attempt.
    var id: TransferID
    /// Others may join it.
    let isShared: Bool
    /// That of the request.
    let number: UInt64
    /// The next one in the table with a request of the same number, see `DownloadTable.sharedJobs`.
    var nextShared: Job?
    /// The request as it is sent.
    var request: HTTPRequest
    /// The request as it was asked for, with which other requests are compared.
    let original: HTTPRequest
    let bodyWork: BodyWork?
    /// Of the request that began it.
    let firstToken: UInt64
    var handlers: Handlers<Subscriber>
    var stage: Stage { didSet { tally?.changed(from: oldValue.isAsking, to: stage.isAsking) } }
    /// Of the table that it is in.
    private var tally: Tally?
    /// The priority of the most urgent handler, raised by `boost`.
    var priority: Priority
    /// Levels that waiting for long has brought.
    var boost: Int32 = 0
    var isPaused = false

    /// Transfers that have begun; one that has to be asked again without a condition is the same attempt.
    var attempts: Int32 = 0
    /// That of this attempt; 0 before.
    var started: Int64 = 0
    var head: ResponseHead?
    var responded: Int64 = 0
    var received: Int64 = 0
    /// Counted in the statistics, while it runs.
    var receivingBytes: Int64 = 0
    /// The end of the transfer, as the network told it.
    var end: TransferEnd?
    var finished: Int64 = 0
    var body: Bytes?
    /// Nothing says that the body is whole: no cache is to have it.
    var isEndUnproven = false
    /// Set once the response has been judged: by what later joiners are judged.
    var judged: Judged?
    /// The host's work on the body is still to be done, or under way.
    var needsBodyWork: Bool
    var workBegan: Int64 = 0
    /// A handler is told its end at once, or was to be: somebody may be blocked until then. Such a job waits for room
    /// and for its turn on the network beside the others, never behind what waits for a delivery.
    var isPrompt: Bool
    /// Bytes that the picture takes while it is decoded, once it lacked them.
    var roomNeeded = 0
    /// A decode thread writes pixels, perhaps to memory that callers have lent.
    var isWriting = false
    /// Something is made of the body while it comes, or was.
    var ahead: Ahead?
    /// Keepers that have the original, or get it as soon as it has proved to be a picture.
    var kept: [OriginalKeeper] = []

    /// The part that a cache plays; nil where none does.
    let caching: Caching?

    init(id: TransferID, _ request: DownloadRequest, _ handler: Handler, _ stage: Stage, _ tally: Tally) {
        self.id = id
        isShared = request.isShareable
        number = request.number
        self.request = request.transfer
        original = request.transfer
        caching = request.inquiry.map { Caching($0) }
        bodyWork = request.bodyWork
        needsBodyWork = request.bodyWork != nil
        handlers = Handlers(handler)
        firstToken = handler.token
        isPrompt = handler.isPrompt
        self.stage = stage
        priority = handler.priority
        self.tally = tally
        tally.changed(from: false, to: stage.isAsking)
    }

    /// It counts no more among the jobs of its table.
    func leaveTable() {
        tally?.changed(from: stage.isAsking, to: false)
        tally = nil
    }

    /// How many jobs of a table are asking: counted, for whoever wants to know must not look at all of them.
    final class Tally {
        private(set) var asking = 0

        fileprivate func changed(from wasAsking: Bool, to isAsking: Bool) {
            if wasAsking != isAsking { asking += isAsking ? 1 : -1 }
        }
    }

    var host: UInt64 { request.url.hostNumber }

    /// Response so far, or of the end.
    var response: Response? { end?.response ?? head?.response }
    /// The same for the application, which may have changed its header fields.
    var shownResponse: Response? { judged?.changed ?? response }

    /// What a cache was asked, what it said, and what it is to have.
    final class Caching {
        let inquiry: any Inquiry
        /// A handler has joined that has made another inquiry, or none: see `Finding.forAll`.
        private(set) var servesOthers = false
        /// When it had answered.
        var answered: Int64 = 0
        var origin = DownloadResult.Origin.network
        var extended: Bytes?
        /// The body has been transformed before it was stored.
        var isMade = false
        /// The body is the original of what is wanted.
        var isOfOriginal = false
        /// Has the pixels in the end.
        var keeper: PictureKeeper?
        /// For which request fields what was found is: see `Found`.
        var selection: Bytes?
        var exchange: HTTPExchange?
        /// Asks for the right to download, when the job's turn has come.
        var turn: HTTPLook?
        /// Tells what becomes of the response when the job is gone.
        var outcome: HTTPExchange.Outcome?
        /// The server has said something that makes no sense of what it was asked.
        var asksAgain = false
        var saver: PartSaver?
        /// That of the attempt before, which may still be writing.
        var lastSaver: PartSaver?

        init(_ inquiry: any Inquiry) { self.inquiry = inquiry }

        func joined(with other: (any Inquiry)?) {
            if other.map({ inquiry.isSame(as: $0) }) != true { servesOthers = true }
        }

        /// It has been left, and will be asked again.
        func startOver() {
            (origin, extended, keeper, outcome, asksAgain) = (.network, nil, nil, nil, false)
            selection = nil
        }
    }

    /// A picture that is being made of what has come so far.
    final class Ahead {
        /// nil: no more is made of it before all of the body is there.
        var stream: PictureStream?
        /// The facts of the picture, once they are known.
        var facts: ImageFacts?
        var body: Bytes?
        /// Bytes of the body that the stream has been given.
        var read = 0
        /// The place in line for a decode thread.
        var place: PriorityBuckets<TransferID>.Place?
        var isWorking = false
        var began: Int64 = 0
        /// The last byte has come meanwhile.
        var bodyWaits = false
        /// Somebody who has come late is to be shown what there is, without waiting for more.
        var owesPreview = false
        /// The step's previews are for all; else only for who has seen none.
        var showsAll = false
        /// When the last preview was made, how long that took, and of how much.
        var previewed: (time: Int64, cost: Int64, bytes: Int)?

        /// Nobody wanted any more of it; who comes later may begin anew.
        var isIdle = false
        /// There was no room for it, or bodies that are complete wanted it back while a step was under way.
        var isTakenBack = false
        /// After that it may begin again once so much of the body is there; 0: never.
        var beginsAgain = 0

        init(_ stream: PictureStream?) { self.stream = stream }
    }

    var facts: ImageFacts? { ahead?.facts }

    var isRunning: Bool { if case .running = stage { true } else { false } }
    var isAsking: Bool { stage.isAsking }
    var isClaiming: Bool { if case .claiming = stage { true } else { false } }
    var isPausing: Bool { if case .pausing = stage { true } else { false } }

    /// Nothing has been sent yet for this handler.
    func isToBeStarted(for handler: Handler) -> Bool {
        switch stage {
        case .asking, .waiting, .claiming, .pausing: attempts(for: handler) == 0
        case .running, .received, .lacking, .working: false
        }
    }

    func attempts(for handler: Handler) -> Int32 { attempts - handler.attemptsBefore }

    /// Each form that a handler wants, once.
    var forms: [PixelForm] {
        handlers.reduce(into: FormIndex()) { forms, handler in
            if handler.wantsPixels { forms.add(handler.form) }
        }.forms
    }

    /// Those that are made while the body comes: nothing is written to memory that a caller has lent before all of the
    /// body is there, so that there is one step only at which the caller could not have it back.
    var formsAhead: [PixelForm] {
        handlers.reduce(into: FormIndex()) { forms, handler in
            guard handler.wantsPixels, !handler.form.isLazy, handler.wantsPreviews || !handler.form.isCallers else {
                return
            }
            forms.add(handler.form.ofTheLibrary)
        }.forms
    }

    /// Somebody wants to know more of the picture than what it is in the end.
    var isWatched: Bool {
        handlers.wantPreviews || handlers.anyEndsEarly || (handlers.wantFacts && facts == nil)
    }

    /// A handler has to wait for a decode thread when the body is there.
    func isDecodedFor(_ handler: Handler) -> Bool {
        handler.wantsPixels || (handler.wantsFacts && facts == nil && request.sink == nil)
    }

    /// The most urgent handler's.
    var wantedPriority: Priority { handlers.priority.raised(by: boost) }
}

// MARK: - What is known of it

extension Job {
    func timings(for handler: Handler, at now: Int64) -> DownloadTimings {
        var timings = DownloadTimings()
        if let answered = caching?.answered, answered > 0 { timings.cache = max(0, answered - handler.submitted) }
        let isFromCache = started == 0 && caching?.origin ?? .network != .network
        timings.queue = started > 0 ? max(0, started - handler.submitted) : isFromCache ? 0 : now - handler.submitted
        if let end { timings.transfer = end.timings }
        if finished > 0, handler.wantsPixels { timings.decode = now - max(finished, handler.submitted) }
        timings.total = now - handler.submitted
        return timings
    }

    func metrics(for handler: Handler) -> DownloadMetrics {
        var metrics = DownloadMetrics()
        if let end { metrics.transfer = end.metrics }
        metrics.bodyBytes = request.sink == nil ? Int64(body?.count ?? 0) : end?.metrics.handedOutBytes ?? received
        metrics.attempts = attempts(for: handler)
        if end == nil, started > 0, finished > 0 { metrics.savedBytes = max(0, (head?.expectedBytes ?? 0) - received) }
        return metrics
    }

    func result(
        for handler: Handler, image: Image? = nil, reserved: (any MemoryReserved)? = nil, error: DownloadError? = nil,
        failedAt stage: DownloadResult.Stage? = nil,
        at now: Int64
    ) -> DownloadResult {
        DownloadResult(
            image: image, reserved: reserved, bytes: error == nil && request.sink == nil ? body : nil, error: error,
            stage: stage ?? currentStage,
            response: shownResponse, httpStatus: bodyWork?.modifier == nil ? nil : judged?.status,
            origin: error == nil ? caching?.origin ?? .network : .network,
            isOfOriginal: error == nil && caching?.isOfOriginal == true,
            extended: error == nil ? caching?.extended : nil, isEndUnproven: error == nil && isEndUnproven,
            timings: timings(for: handler, at: now), metrics: metrics(for: handler), ended: now)
    }

    /// Where a transfer that failed had come to: its header may have been complete without having been told of.
    var stageReached: DownloadResult.Stage {
        guard head == nil, let status = end?.response?.status else { return currentStage }
        // That of a redirect is not the one that was waited for.
        return (300...399).contains(status) ? .response : .body
    }

    /// As the header's SDD_STAGE_ tells it. Until the header is there, a transfer counts as waiting for it.
    var currentStage: DownloadResult.Stage {
        switch stage {
        case .asking, .waiting, .claiming, .pausing: .queue
        case .running: head == nil ? .response : .body
        case .received, .lacking, .working: .decode
        }
    }
}
