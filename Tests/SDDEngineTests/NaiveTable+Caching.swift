import SDDCoders

@testable import SDDEngine

extension NaiveTable {
    /// The result of a lookup.
    enum Answer {
        case network
        case body(Int, Verdict?)
        /// A decoded picture in that format.
        case image(PixelFormat)
        case done, nothing
    }

    mutating func answer(_ id: UInt64, _ answer: Answer) {
        guard let index = index(of: id), jobs[index].stage == .asking else { return }
        switch answer {
        case .network:
            jobs[index].stage = .waiting
            (jobs[index].arrival, jobs[index].age) = (arrival(), now)
        case .body(let size, let verdict):
            // A response that a modifier may change is judged later.
            if let verdict, jobs[index].work != .modifier { judge(index, verdict) }
            if jobs[index].handlers.isEmpty { jobs.remove(at: index) } else { bodyIsThere(index, size: size) }
        case .image(let format):
            for handler in jobs.remove(at: index).handlers {
                end(End(token: handler.token, format: handler.wantsPixels ? format : nil))
            }
        case .done: for handler in jobs.remove(at: index).handlers { end(handler.token) }
        case .nothing: endJob(at: index, .notCached)
        }
        fill()
    }
}
