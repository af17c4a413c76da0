import SDDBase
import SDDCaches
import SDDCoders
import SDDTransport

/// Work for caches that the table has requested. Runs with no lock held, on the thread that reported the event to the
/// table.
extension Downloader {
    func run(_ cacheTasks: [CacheTask]) {
        for task in cacheTasks {
            switch task {
            case .ask(let id, let lookup, let context):
                let start = { @Sendable [self] in
                    lookup.start(context, answer: answer(of: id))
                }
                if let saver = context.after { saver.whenDone(start) } else { start() }
            case .raise(let lookup, let wish, let priority): lookup.raise(wish, to: priority)
            case .claim(let id, let look): look.claim(answer: answer(of: id))
            case .awaitOther(let id, let look): look.lookLater(answer: answer(of: id))
            case .revalidate(let request):
                _ = submit(.success(request), callbacks: Nobody(), isImmediate: true)
            case .keep(let keeper, let image): keeper.keep(image)
            case .keepPixels(let keeper, let image, let response, let headers):
                keeper.keep(image, of: response, askedWith: headers)
            case .keepOriginal(let keeper, let original):
                keeper.keep(original, decodedBy: registry)
                stores.ended()
            case .unmark(let mark, let disk):
                if let disk { disk.change { mark.release() } } else { mark.release() }
            case .apply(let revalidation, let outcome): revalidation.apply(outcome)
            case .save(let saver, let bytes): saver.save(bytes)
            case .endSaving(let saver, let isComplete): saver.end(isComplete: isComplete)
            }
        }
    }

    private func answer(of id: TransferID) -> @Sendable (LookupResult) -> Void {
        { [self] result in
            change { table, now in
                Trace.step("take the answer of the cache", .downloader)
                table.answered(id, result, at: now)
            }
        }
    }
}

/// Callbacks that ignore all events.
private final class Nobody: AppCallbacks {
    func completed(_ result: DownloadResult, token: UInt64) {}
}

extension CacheTask {
    /// True if running the task may report an answer immediately.
    var asks: Bool {
        switch self {
        case .ask, .claim, .awaitOther: true
        case .raise, .keep, .keepPixels, .keepOriginal, .unmark, .apply, .revalidate, .save, .endSaving: false
        }
    }
}
