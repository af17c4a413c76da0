import SDDBase
import SDDCoders
import SDDTransport

/// What the table wants of caches. Called with no lock held, on whichever thread the table was told something.
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

    /// For nobody but the cache, when there is nothing better to do.
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

/// Who wants to hear nothing.
private final class Nobody: Receiver {
    func progressed(token: UInt64, received: Int64, expected: Int64) {}
    func learned(_ facts: ImageFacts, token: UInt64) {}
    func previewed(_ result: DownloadResult, token: UInt64) {}
    func completed(_ result: DownloadResult, token: UInt64) {}
    func released() {}
}

extension Errand {
    /// It may come to an answer at once.
    var asks: Bool {
        switch self {
        case .ask, .claim, .awaitOther: true
        case .keep, .keepOriginal, .settle, .revalidate, .save, .endSaving: false
        }
    }
}
