import SDDBase
import SDDTransport
import Testing

@testable import SDDCoders
@testable import SDDEngine

// MARK: - Caches

extension RandomWalk {
    mutating func answer() {
        guard let job = model.jobs(in: .asking).randomElement(using: &random) else { return }
        answer(job)
    }

    mutating func answer(_ job: NaiveTable.Job) {
        switch Int.random(in: 0..<10, using: &random) {
        case 0:
            driver.answer(job.id, .done)
            model.answer(job.id, .done)
        case 1:
            driver.answer(job.id, .failed(.notCached))
            model.answer(job.id, .nothing)
        case 2:
            driver.answer(job.id, .found(CacheHit(image: Made.image(), origin: .memory)))
            model.answer(job.id, .image(.rgba8))
        case 3..<7:
            let size = [0, 10, 10, 5 << 20].randomElement(using: &random) ?? 0
            let verdict = Bool.random(using: &random) ? verdict() : nil
            let head = verdict.map {
                ResponseHead(response: Sample.response($0.status, type: $0.type), expectedBytes: Int64(size))
            }
            driver.answer(
                job.id,
                .found(CacheHit(body: Self.body(size), response: head.map { CachedResponse($0) }, origin: .disk)))
            model.answer(job.id, .body(size, verdict))
        default:
            driver.answer(job.id, .network(nil))
            model.answer(job.id, .network)
        }
    }

    /// Checks that each transfer with a lookup asks exactly once.
    mutating func checkAsked() throws {
        try #require(driver.cacheTasks().asked == model.asked)
        model.asked = []
    }
}
