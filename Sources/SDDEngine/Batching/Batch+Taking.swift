import SDDBase
import SDDCoders

/// One item of a batch, as it is handed out.
package struct BatchItem: Sendable {
    package let index: Int
    package let id: UInt64
    /// The slot that holds its pixels in the tensor; `nil` if none does.
    package let slot: Int?
    package let result: DownloadResult
    /// The item's error, used in place of `result.error`.
    package let error: DownloadError?
}

/// The reasons why `wait` returned no items.
package enum BatchFailure: Error {
    case timedOut, closed
    /// The call came from inside the application's item function.
    case wouldDeadlock
}

// Called on any number of the application's threads.
extension Batch {
    /// Waits until items can be taken, takes at most `most` of them, and begins others in their place.
    /// - Parameter milliseconds: the time limit; negative means no limit.
    /// - Returns: the items; empty if all have been taken.
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
            // Otherwise the deadline of the whole batch has passed; the next turn of the loop handles it.
            if milliseconds >= 0, now >= until { throw .timedOut }
        }
    }

    /// Milliseconds until the deadline; -1 if there is none, or if the batch has stopped.
    private var millisecondsToDeadline: Int64 {
        let hasStopped = state.withLock { $0.table.stop != nil }
        return deadline == .max || hasStopped ? -1 : Self.milliseconds(from: now, to: deadline)
    }

    /// Returns the time between two points, rounded up.
    private static func milliseconds(from now: Int64, to time: Int64) -> Int64 { max(0, (time - now + 999) / 1000) }

    /// Returns the smaller of two limits; a negative one means no limit.
    private func soonest(_ one: Int64, _ other: Int64) -> Int64 {
        one < 0 ? other : other < 0 ? one : min(one, other)
    }

    /// Whether this thread is inside the application's item function.
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

    /// Takes items when there are some; returns `nil` when the time is over.
    private func step(most: Int, milliseconds: Int64) -> Step? {
        let step = state.wait(milliseconds: milliseconds) { state -> Step? in
            if state.isClosed { return .closed }
            if state.table.isTakeable { return .items(state.table.take(most: most)) }
            return state.table.isOver ? .items([]) : nil
        }
        // Update the bell and wake other waiting threads.
        change { _ in }
        return step
    }

    /// Makes the item to hand out, and fills its slot with the pixels.
    private func finish(_ taken: BatchTable<DownloadResult>.Taken) -> BatchItem {
        let result: DownloadResult
        switch taken.end {
        case .succeeded(let outcome), .failed(let outcome): result = outcome
        case .stopped(let reason): result = self.result(ofStopped: reason)
        }
        var (error, slot) = (result.error, taken.slot)
        if let tensor = rules.tensor, let place = slot {
            if error == nil {
                error = fill(place, of: tensor, with: result.image)
                if let error { change { state in state.counts.correct(result, of: taken.host, to: error) } }
            }
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
    /// Registers a call of `wait`.
    /// - Returns: false if the batch is closed.
    fileprivate mutating func enter() -> Bool {
        if !isClosed { visitors += 1 }
        return !isClosed
    }
}

// MARK: - Closing

extension Batch {
    /// Cancels all requests, makes calls of `wait` return, and waits for both: afterwards nothing writes to the tensor
    /// or asks for items. Must not be called from the application's item function.
    package func close() {
        // Close first, so that waiting threads do not take the items that the cancel ends.
        change { state in state.isClosed = true }
        stop(.cancelled)
        state.wait { state in state.visitors == 0 && state.table.underWayCount == 0 ? () : nil }
    }
}
