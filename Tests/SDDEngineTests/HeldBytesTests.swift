import SDDBase
import SDDTransport
import Testing

@testable import SDDEngine

/// The statistics on bodies in memory.
@Suite struct HeldBytesTests {
    private let driver: Driver

    init() throws { driver = try Driver() }

    private var receiving: Int64 { driver.table.currentStatistics.receivingBytes }
    private var waiting: Int64 { driver.table.currentStatistics.waitingBytes }

    @Test func arrivingBodiesCountTheirReceivedBytes() throws {
        _ = try driver.submit(0)
        let other = try driver.submit(1)
        driver.receive(1, 100)
        driver.receive(2, 1000)
        #expect(receiving == 1100)
        // the body starts again
        driver.receive(1, 30)
        #expect(receiving == 1030)
        _ = driver.cancel(other)
        #expect(receiving == 30)
        driver.finish(1, size: 70)
        #expect(receiving == 0 && waiting == 70)
        _ = driver.nextWork()
        #expect(waiting == 0)
    }

    @Test func bytesForASinkAreNotHeld() throws {
        _ = try driver.submit(0, pixels: false) {
            $0.transfer.sink = try BodySink(descriptor: nil) { _ in true }
        }
        driver.receive(1, 100)
        #expect(receiving == 0)
    }
}
