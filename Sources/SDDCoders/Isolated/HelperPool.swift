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

    private let program: @Sendable () throws(CoderError) -> HelperProgram
    /// Room among all pictures of the process for what idle helpers keep; `nil` means that there is always enough.
    private let memory: (any MemoryKeeping)?
    private let state = Monitor(State())

    /// - Parameter program: returns the program, each time that a helper is needed.
    package init(
        memory: (any MemoryKeeping)? = nil, _ program: @escaping @Sendable () throws(CoderError) -> HelperProgram
    ) {
        self.program = program
        self.memory = memory
    }

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
            guard !helper.isBusy, isKept || helper.readers.isEmpty else { return false }
            helper.isBusy = true
            return true
        }
        if isIdle { giveBack(helper) }
    }

    /// Ends the helpers that nothing is asked of. Images that are decoded later, or have more frames, start others.
    package func close() {
        state.withLock { $0.isClosing = true }
        endIdle()
    }

    /// Ends the helpers that nothing is asked of, because others need the memory that they keep.
    package func endIdle() {
        let idle = state.withLock { state in
            let idle = state.helpers.filter { !$0.isBusy && $0.readers.isEmpty }
            if !idle.isEmpty { state.helpers.removeAll { !$0.isBusy && $0.readers.isEmpty } }
            return idle
        }
        // Their processes end, and their room is given back, without the lock.
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

    /// Takes an idle helper, or else starts another one. Where the machine gives none, it waits for one that is busy.
    private func takeSeat(_ object: String?) throws(CoderError) -> Seat {
        if let seat = state.withLock({ Self.seat(of: object, &$0) }) { return counted(seat) }
        do throws(CoderError) {
            let helper = try Helper.start(program(), object: object)
            return state.withLock { state in
                state.helpers.append(helper)
                return Self.seat(of: helper, &state, isNew: true)
            }
        } catch {
            let seat = state.wait { state -> Seat?? in
                if let seat = Self.seat(of: object, &state) { return seat }
                return state.helpers.contains { Self.isFor(object, $0) } ? nil : .some(nil)
            }
            guard let seat else { throw error }
            return counted(seat)
        }
    }

    /// Gives back the room of a helper that is not idle any more: the picture that it decodes has some.
    private func counted(_ seat: Seat) -> Seat {
        seat.helper.room = nil
        return seat
    }

    /// Takes the idle helper with the fewest readers.
    private static func seat(of object: String?, _ state: inout State) -> Seat? {
        let idle = state.helpers.filter { !$0.isBusy && isFor(object, $0) }
        return idle.min { $0.readers.count < $1.readers.count }.map { seat(of: $0, &state) }
    }

    private static func isFor(_ object: String?, _ helper: Helper) -> Bool {
        helper.object == object && !helper.isGone && !helper.wasWorn
    }

    private static func seat(of helper: Helper, _ state: inout State, isNew: Bool = false) -> Seat {
        state.lastReader &+= 1
        helper.isBusy = true
        helper.readers.insert(state.lastReader)
        return Seat(helper: helper, reader: state.lastReader, isOfNewHelper: isNew)
    }

    private func giveBack(_ helper: Helper) {
        while true {
            let (closing, isIdle) = state.withLock { _ in
                defer { helper.closing = [] }
                return (helper.isDead ? [] : helper.closing, helper.readers.isEmpty && !helper.isDead)
            }
            let told = closing.prefix { tell(helper, toClose: $0) }
            // It has not read the others yet. The next one to give it back tells it.
            let untold = closing.dropFirst(told.count)
            // Room is asked for without the lock.
            let room = isIdle ? memory?.reserve(helper.byteCount + Self.own, isArriving: true) : nil
            let isFree = state.withLock { state in
                let hasMore = !helper.closing.isEmpty && untold.isEmpty && !helper.isDead
                helper.closing += untold
                if !hasMore { becameFree(helper, room, &state) }
                return !hasMore
            }
            if isFree { break }
        }
        state.broadcast()
    }

    private func becameFree(_ helper: Helper, _ room: (any MemoryReserved)?, _ state: inout State) {
        helper.isBusy = false
        (helper.isGone, helper.wasWorn) = (helper.isDead, helper.isWorn)
        let isIdle = helper.readers.isEmpty
        let hasNoRoom = isIdle && room == nil && memory != nil
        if helper.isDead || hasNoRoom || Self.isDone(helper, state) {
            state.helpers.removeAll { $0 === helper }
        } else if isIdle {
            helper.room = room
        }
    }

    /// - Returns: false if that has to wait.
    private func tell(_ helper: Helper, toClose reader: UInt32) -> Bool {
        var request = sddhelper_request()
        request.question = SDDHELPER_CLOSE.rawValue
        request.reader = reader
        return helper.tell(request)
    }

    /// Whether an idle helper is to end.
    private static func isDone(_ helper: Helper, _ state: State) -> Bool {
        helper.readers.isEmpty && (state.isClosing || helper.isWorn || helper.byteCount > mostKept)
    }

    /// Bytes of its files in memory with which a helper is kept. One that has more ends with its last reader.
    private static let mostKept = 64 << 20
    /// Bytes that an idle helper keeps beside these files: see `sddhelper_enter_sandbox`.
    private static let own = 16 << 20

    // MARK: - Coders

    /// Whether a coder decodes a body; `nil` if the bytes are too few to tell.
    /// - Throws: if its helper could not be asked, or has ended meanwhile.
    func canDecode(_ bytes: Bytes, _ object: String) throws(CoderError) -> Bool? {
        var request = sddhelper_request()
        request.question = SDDHELPER_CAN_DECODE.rawValue
        var seat: Seat?
        defer { if let seat { leave(seat, isKept: false) } }
        let beginning = UnsafeRawBufferPointer(rebasing: bytes.pointer.prefix(Self.beginning))
        let reply = try ask(&seat, object) { seat, _ throws(CoderError) in
            try seat.helper.ask(request, beginning, program().limits)
        }
        switch reply.answer {
        case SDDHELPER_GIVEN.rawValue: return true
        case SDDHELPER_NO.rawValue: return false
        case SDDHELPER_NOTHING.rawValue: return bytes.count < Self.beginning ? nil : false
        default: throw CoderError(.decoder, "it gave an answer to another question")
        }
    }

    /// Bytes of a body from which a coder tells whether it decodes it.
    private static let beginning = 64 << 10
}
