import SDDBase
import SDDCoders
import TestSupport
import Testing

@testable import SDDEngine

/// Decoders that fall far behind slow down the network.
@Suite struct BackPressureTests {
    @Test("Z10: bodies that wait for a decoder pause later transfers, and resume them")
    func pausesRunningTransfers() throws {
        // given
        let driver = try Driver { $0.maxConcurrent = 4 }
        for number in 0..<6 { try driver.submit(number) }
        _ = driver.commands()
        // when
        driver.answer(1, size: 40 << 20)
        let before = driver.commands()
        driver.answer(2, size: 40 << 20)
        // then
        #expect(before == [])
        #expect(driver.commands() == [.pause(3), .pause(4)])
        // when: one body is still too much
        driver.work()
        #expect(driver.commands() == [])
        driver.work()
        // then
        #expect(driver.commands() == [.resume(3), .resume(4), .start(5, .normal), .start(6, .normal)])
    }

    @Test func aCancelledBodyHoldsNothingBack() throws {
        let driver = try Driver { $0.maxConcurrent = 2 }
        let token = try driver.submit(0)
        try driver.submit(1)
        _ = driver.commands()
        driver.answer(1, size: 70 << 20)
        #expect(driver.commands() == [.pause(2)])
        driver.cancel(token)
        #expect(driver.commands() == [.resume(2)])
    }
}
