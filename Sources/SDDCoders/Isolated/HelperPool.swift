internal import CHelper
internal import SDDBase

/// The helpers of one downloader: as many for each coder as threads have decoded with it at a time. They are started
/// when they are needed, and end with the downloader. Callable from any thread.
package final class HelperPool: Sendable {
    private struct State {
        var helpers: [Helper] = []
        /// True once the downloader has ended: a helper then ends with its last reader.
        var isClosing = false
        var lastReader: UInt32 = 0
    }

    private let program: HelperProgram
    private let state = Monitor(State())

    package init(_ program: HelperProgram) { self.program = program }

    /// A reader of a helper's.
    struct Seat {
        let helper: Helper
        let reader: UInt32
        var isOfNewHelper = false
    }

    /// Runs `body` with a helper that no other thread uses meanwhile.
    /// - Parameters:
    ///   - seat: the reader that is asked; if it is `nil` or its helper has ended, it is set to a new one, of a helper
    ///     that no other thread uses and that has few readers.
    ///   - body: its second argument is true if the reader is new.
    func ask<Answer>(
        _ seat: inout Seat?, _ object: String?, _ body: (Seat, Bool) throws(CoderError) -> Answer
    ) throws(CoderError) -> Answer {
        if let known = seat {
            if take(known.helper) {
                defer { giveBack(known.helper) }
                return try body(known, false)
            }
            seat = nil
        }
        while true {
            let taken = try takeSeat(object)
            defer { giveBack(taken.helper) }
            seat = taken
            do throws(CoderError) {
                return try body(taken, true)
            } catch {
                // Something has ended the process while it had nothing to do. There are only so many of these.
                guard taken.helper.wasDead, !taken.isOfNewHelper else { throw error }
            }
        }
    }

    /// Gives up a reader.
    /// - Parameter isKept: whether the helper keeps it, and is to be told.
    func leave(_ seat: Seat, isKept: Bool = true) {
        let helper = seat.helper
        let isIdle = state.withLock { state in
            guard helper.readers.remove(seat.reader) != nil else { return false }
            if isKept { helper.closing.append(seat.reader) }
            guard !helper.isBusy, isKept || Self.isDone(helper, state) else { return false }
            helper.isBusy = true
            return true
        }
        if isIdle { giveBack(helper) }
    }

    /// Ends the helpers that nothing is asked of. Images that are decoded later, or have more frames, start others.
    package func close() {
        let idle = state.withLock { state in
            state.isClosing = true
            let idle = state.helpers.filter { !$0.isBusy && $0.readers.isEmpty }
            state.helpers.removeAll { !$0.isBusy && $0.readers.isEmpty }
            return idle
        }
        // Their processes end without the lock.
        withExtendedLifetime(idle) {}
    }

    /// Whether the helper of a reader has ended.
    func hasLost(_ seat: Seat) -> Bool { state.withLock { _ in seat.helper.isGone } }

    // MARK: - Helpers

    /// Waits for a helper.
    /// - Returns: false if it has ended.
    private func take(_ helper: Helper) -> Bool {
        state.wait { _ -> Bool? in
            if helper.isGone { return false }
            if helper.isBusy { return nil }
            helper.isBusy = true
            return true
        }
    }

    private func takeSeat(_ object: String?) throws(CoderError) -> Seat {
        let (idle, reader) = state.withLock { state in
            state.lastReader &+= 1
            let idle = state.helpers.filter { !$0.isBusy && !$0.isGone && $0.object == object }
                .min { $0.readers.count < $1.readers.count }
            idle?.isBusy = true
            idle?.readers.insert(state.lastReader)
            return (idle, state.lastReader)
        }
        if let idle { return Seat(helper: idle, reader: reader) }
        let helper = try Helper(program, object: object)
        state.withLock { state in
            helper.readers.insert(reader)
            state.helpers.append(helper)
        }
        return Seat(helper: helper, reader: reader, isOfNewHelper: true)
    }

    private func giveBack(_ helper: Helper) {
        while true {
            let closing = state.withLock { state -> [UInt32] in
                defer { helper.closing = [] }
                if !helper.closing.isEmpty && !helper.isDead { return helper.closing }
                helper.isBusy = false
                helper.isGone = helper.isDead
                if helper.isDead || Self.isDone(helper, state) { state.helpers.removeAll { $0 === helper } }
                return []
            }
            if closing.isEmpty { break }
            for reader in closing {
                var request = sddhelper_request()
                request.question = SDDHELPER_CLOSE.rawValue
                request.reader = reader
                helper.tell(request)
            }
        }
        state.broadcast()
    }

    /// Whether an idle helper is to end.
    private static func isDone(_ helper: Helper, _ state: State) -> Bool {
        helper.readers.isEmpty && (state.isClosing || helper.byteCount > mostKept)
    }

    /// Bytes of its files in memory with which a helper is kept. One that has more ends with its last reader.
    private static let mostKept = 64 << 20

    // MARK: - Coders

    /// Whether a coder decodes a body; `nil` if the bytes are too few to tell.
    func canDecode(_ bytes: Bytes, _ object: String) -> Bool? {
        var request = sddhelper_request()
        request.question = SDDHELPER_CAN_DECODE.rawValue
        var seat: Seat?
        defer { if let seat { leave(seat, isKept: false) } }
        let beginning = UnsafeRawBufferPointer(rebasing: bytes.pointer.prefix(Self.beginning))
        do throws(CoderError) {
            let reply = try ask(&seat, object) { seat, _ throws(CoderError) in
                try seat.helper.ask(request, beginning, DecodeLimits())
            }
            switch reply.answer {
            case SDDHELPER_GIVEN.rawValue: return true
            case SDDHELPER_NO.rawValue: return false
            case SDDHELPER_NOTHING.rawValue: return bytes.count < Self.beginning ? nil : false
            default: return true
            }
        } catch {
            // The decode tells what is wrong.
            return true
        }
    }

    /// Bytes of a body from which a coder tells whether it decodes it.
    private static let beginning = 64 << 10
}
