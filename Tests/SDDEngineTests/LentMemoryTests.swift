import Glibc
import SDDBase
import SDDCoders
import SDDTransport
import TestSupport
import Testing

@testable import SDDEngine

/// A request with pixel memory of the application ends only when no thread writes there any more.
@Suite struct LentMemoryTests {
    let driver: Driver
    let form: DecodeOptions

    init() throws {
        driver = try Driver()
        // No thread writes there: the test is the decoder.
        let base = try #require(UnsafeMutableRawPointer(bitPattern: 4096))
        form = DecodeOptions(memory: PixelMemory(owner: .caller(PixelSpace(base: base, size: 64, stride: 0))))
    }

    @Test("Z15: a cancel while the decoder writes is reported after the decode")
    func waitsForTheWriter() throws {
        // given
        let lender = try driver.submit(1) { $0.form = form }
        let other = try driver.submit(1)
        driver.answer(1)
        _ = driver.nextWork()
        // when
        #expect(driver.cancel(lender) == false)
        // then
        #expect(driver.ended[lender] == nil && driver.muted == [lender])
        #expect(driver.cancel(lender) == nil)
        driver.decoded(1)
        #expect(driver.error(of: lender)?.detail == .cancelledDecoding)
        #expect(driver.ended[other]?.error == nil && driver.ended[other] != nil)
    }

    @Test func waitsEvenIfNoOtherRequestIsLeft() throws {
        let lender = try driver.submit(1) { $0.form = form }
        driver.answer(1)
        _ = driver.nextWork()
        #expect(driver.cancel(lender) == true)
        #expect(driver.ended[lender] == nil)
        driver.close()
        #expect(driver.ended[lender] == nil)
        driver.decoded(1)
        #expect(driver.error(of: lender)?.code == .cancelled)
        #expect(driver.table.decoding.isEmpty)
    }

    @Test func endsAtOnceIfNoThreadWrites() throws {
        let running = try driver.submit(1) { $0.form = form }
        driver.cancel(running)
        #expect(driver.error(of: running)?.detail == .cancelledSending)
        let received = try driver.submit(2) { $0.form = form }
        driver.answer(2)
        driver.cancel(received)
        #expect(driver.error(of: received)?.detail == .cancelledDecoding)
        let done = try driver.submit(3) { $0.form = form }
        driver.answer(3)
        _ = driver.nextWork()
        driver.decoded(3)
        #expect(driver.ended[done]?.image != nil)
    }
}
