import SDDBase
import SDDCoders
import SDDTransport

/// Work for caches that the table has requested. Runs with no lock held, on the thread that reported the event to the
/// table.
extension Downloader {
    func run(_ errands: [Errand]) {
        for errand in errands {
            switch errand {
            case .ask(let id, let inquiry, let question):
                let ask = { @Sendable [self] in
                    inquiry.ask(question, answer: answer(of: id))
                }
                if let saver = question.after { saver.whenDone(ask) } else { ask() }
            case .claim(let id, let look): look.claim(answer: answer(of: id))
            case .awaitOther(let id, let look): look.lookLater(answer: answer(of: id))
            case .revalidate(let request, let inquiry): revalidate(request, inquiry)
            case .keep(let keeper, let image): keeper.keep(image)
            case .keepOriginal(let keeper, let original): keeper.keep(original)
            case .settle(let exchange, let outcome): exchange.settle(outcome)
            case .save(let saver, let bytes): saver.save(bytes)
            case .endSaving(let saver, let isComplete): saver.end(isComplete: isComplete)
            }
        }
    }

    private func answer(of id: TransferID) -> @Sendable (Finding) -> Void {
        { [self] finding in
            change { table, now, effects in table.answered(id, finding, at: now, &effects) }
        }
    }

    /// Revalidates a cached response at the lowest priority, only for the cache.
    private func revalidate(_ transfer: HTTPRequest, _ inquiry: HTTPInquiry) {
        var request = DownloadRequest(transfer: transfer)
        request.priority = .veryLow
        request.wantsPixels = false
        request.inquiry = inquiry
        request.acceptance = .all
        request.maxAttempts = 1
        _ = submit(.success(request), receiver: Nobody(), isImmediate: true)
    }
}

/// A receiver that ignores all events.
private final class Nobody: Receiver {
    func progressed(token: UInt64, received: Int64, expected: Int64) {}
    func learned(_ facts: ImageFacts, token: UInt64) {}
    func previewed(_ result: DownloadResult, token: UInt64) {}
    func completed(_ result: DownloadResult, token: UInt64) {}
    func released() {}
}

extension Errand {
    /// True if running the errand may report an answer immediately.
    var asks: Bool {
        switch self {
        case .ask, .claim, .awaitOther: true
        case .keep, .keepOriginal, .settle, .revalidate, .save, .endSaving: false
        }
    }
}
