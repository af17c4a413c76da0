import SDDBase
import SDDCoders

/// One item of a batch, as it is handed out.
package struct BatchItem: Sendable {
    package let index: Int
    package let id: UInt64
    /// Where its pixels lie in the tensor; nil: nowhere.
    package let slot: Int?
    package let result: DownloadResult
    /// In place of that of the result.
    package let error: DownloadError?
}

/// Why a thread got no items.
package enum BatchFailure: Error {
    case timedOut, closed
    /// Inside the function that gives the items.
    case wouldDeadlock
}

// Thread: the host's, any number of them.
extension Batch {
    /// Waits until items can be taken, takes at most `most` of them, and begins others in their place.
    /// - Parameter milliseconds: negative: no limit.
    /// - Returns: none when all have been taken.
    package func wait(most: Int, milliseconds: Int64) throws(BatchFailure) -> [BatchItem] {
        if isAsking { throw .wouldDeadlock }
        guard state.withLock({ $0.enter() }) else { throw .closed }
        defer { change { state in state.visitors -= 1 } }
        let until = now + min(max(milliseconds, 0), 1 << 40) * 1000
        while true {
            refill()
            let left = milliseconds < 0 ? -1 : Self.milliseconds(from: now, to: until)
            if let step = step(most: most, milliseconds: soonest(left, millisecondsToDeadline)) {
                let taken = try step.taken()
                refill()
                return taken.map { finish($0) }
            }
            // Else it was the deadline of the whole, which the next turn sees to.
            if milliseconds >= 0, now >= until { throw .timedOut }
        }
    }

    /// -1: it does not matter any more, or there is none.
    private var millisecondsToDeadline: Int64 {
        let hasStopped = state.withLock { $0.table.stop != nil }
        return deadline == .max || hasStopped ? -1 : Self.milliseconds(from: now, to: deadline)
    }

    /// Rounded up.
    private static func milliseconds(from now: Int64, to time: Int64) -> Int64 { max(0, (time - now + 999) / 1000) }

    /// Of two limits, of which a negative one is none.
    private func soonest(_ one: Int64, _ other: Int64) -> Int64 {
        one < 0 ? other : other < 0 ? one : min(one, other)
    }

    /// This thread is giving an item just now.
    package var isAsking: Bool { state.withLock { $0.asker == .current } }

    private enum Step {
        case items([BatchTable<DownloadResult>.Taken])
        case closed

        func taken() throws(BatchFailure) -> [BatchTable<DownloadResult>.Taken] {
            switch self {
            case .items(let items): return items
            case .closed: throw .closed
            }
        }
    }

    /// nil: the time is over.
    private func step(most: Int, milliseconds: Int64) -> Step? {
        let step = state.wait(milliseconds: milliseconds) { state -> Step? in
            if state.isClosed { return .closed }
            if state.table.isTakeable { return .items(state.table.take(most: most)) }
            return state.table.isOver ? .items([]) : nil
        }
        // The bell, and others that wait.
        change { _ in }
        return step
    }

    /// The last thing that is done to an item: what is in its slot.
    private func finish(_ taken: BatchTable<DownloadResult>.Taken) -> BatchItem {
        let result: DownloadResult
        switch taken.end {
        case .succeeded(let outcome), .failed(let outcome): result = outcome
        case .stopped(let reason): result = self.result(ofStopped: reason)
        }
        var (error, slot) = (result.error, taken.slot)
        if let tensor = rules.tensor, let place = slot {
            if error == nil { error = fill(place, of: tensor, with: result.image) }
            if error != nil {
                tensor.clear(place)
                if release(slot: place) { slot = nil }
            }
        }
        return BatchItem(index: taken.index, id: taken.id, slot: slot, result: result, error: error)
    }

    private func fill(_ slot: Int, of tensor: Tensor, with image: Image?) -> DownloadError? {
        do throws(CoderError) {
            guard let image else { throw CoderError(.empty) }
            try tensor.fill(slot, with: image)
            return nil
        } catch {
            return DownloadError(error)
        }
    }
}

extension Batch.State {
    /// - Returns: false when it has been closed.
    fileprivate mutating func enter() -> Bool {
        if !isClosed { visitors += 1 }
        return !isClosed
    }
}

// MARK: - The end

extension Batch {
    /// Cancels what is under way, makes calls of `wait` return, and waits for both: afterwards nobody writes to the
    /// tensor or asks for items. Not where the host is being asked for an item.
    package func close() {
        // First, so that who waits does not take what the cancel ends.
        change { state in state.isClosed = true }
        stop(.cancelled)
        state.wait { state in state.visitors == 0 && state.table.underWayCount == 0 ? () : nil }
    }
}
