/// Accounts of the memory that images hold, and the line of accounts that wait for memory. A state machine: it knows no
/// thread, lock or object; `DecodeMemory` keeps it under a lock.
///
/// Room for an image whose body is complete is *held* until the image has been delivered. Room for an image whose body
/// is still arriving depends on a server, and can be taken back: as long as a complete body waits for room in any
/// account, arriving ones get none, and those that have some are asked to give it up.
struct RoomLedger {
    private struct Account {
        /// Bytes of images whose bodies are complete.
        var held = 0
        /// Bytes of images whose bodies are arriving.
        var arriving = 0
        /// Bytes that the first of its waiting bodies needs, while the account is in line.
        var wanted: Int?
        var isClosed = false
    }

    var limit = 192 << 20
    private(set) var used = 0
    private var accounts: [UInt64: Account] = [:]
    /// Accounts that wait, in the order in which they came. Each downloader has at most two.
    private(set) var line: [UInt64] = []
    private var lastAccount: UInt64 = 0

    mutating func makeAccount() -> UInt64 {
        lastAccount += 1
        accounts[lastAccount] = Account()
        return lastAccount
    }

    /// Takes room, if there is some that no account ahead in the line can use. An account that holds nothing always
    /// gets room (for an arriving body, only if no account waits): so each downloader makes progress whatever the
    /// others keep, and an image larger than the limit gets its turn.
    mutating func take(_ bytes: Int, for id: UInt64, isArriving: Bool) -> Bool {
        guard var account = accounts[id], !account.isClosed else { return false }
        if isArriving {
            let isAlone = account.held == 0 && account.arriving == 0
            guard line.isEmpty, isAlone || bytes <= free else { return false }
            account.arriving += bytes
        } else {
            guard account.held == 0 || bytes <= free(for: id) else { return false }
            account.held += bytes
        }
        // This does not overflow: an image costs at most an eighth of `Int.max`, and images are few.
        used += bytes
        accounts[id] = account
        return true
    }

    /// Takes room for a complete body, or puts the account in line for it.
    mutating func ask(_ bytes: Int, for id: UInt64) -> Bool {
        if take(bytes, for: id, isArriving: false) {
            withdraw(id)
            return true
        }
        guard let account = accounts[id], !account.isClosed else { return false }
        if account.wanted == nil { line.append(id) }
        accounts[id]?.wanted = bytes
        return false
    }

    /// Takes the account out of the line.
    mutating func withdraw(_ id: UInt64) {
        guard accounts[id]?.wanted != nil else { return }
        accounts[id]?.wanted = nil
        line.removeAll { $0 == id }
    }

    mutating func giveBack(_ bytes: Int, of id: UInt64, isArriving: Bool) {
        guard var account = accounts[id] else { return }
        used = max(0, used - bytes)
        if isArriving {
            account.arriving = max(0, account.arriving - bytes)
        } else {
            account.held = max(0, account.held - bytes)
        }
        accounts[id] = account
    }

    /// Turns room of an arriving image into held room once the body is complete: it is not taken back any more.
    mutating func settle(_ bytes: Int, of id: UInt64) {
        guard let account = accounts[id] else { return }
        let moved = min(bytes, account.arriving)
        accounts[id]?.arriving -= moved
        accounts[id]?.held += moved
    }

    /// Closes an account: it gets no more room, but still has to give back the room it has.
    mutating func close(_ id: UInt64) {
        withdraw(id)
        accounts[id]?.isClosed = true
    }

    /// Removes an account that has no references left.
    mutating func forget(_ id: UInt64) {
        withdraw(id)
        guard let account = accounts.removeValue(forKey: id) else { return }
        used = max(0, used - account.held - account.arriving)
    }

    /// Resets the ledger in a forked child, which has none of its parent's images.
    mutating func startOver() {
        let limit = limit
        self = RoomLedger()
        self.limit = limit
    }

    private var free: Int { max(0, limit - used) }

    /// The room that the accounts ahead leave for this one. An account that is not in line comes after all others.
    private func free(for id: UInt64) -> Int {
        var free = free
        for other in line {
            if other == id { break }
            if let wanted = accounts[other]?.wanted, wanted <= free { free -= wanted }
        }
        return free
    }

    /// The accounts to wake on behalf of the line: those that can take room now, or, if there is too little, those that
    /// can give up arriving images.
    var wakes: [UInt64] {
        if line.isEmpty { return [] }
        var free = free
        var isShort = false
        var wakes: [UInt64] = []
        for id in line {
            guard let account = accounts[id], let wanted = account.wanted else { continue }
            if account.held == 0 || wanted <= free {
                wakes.append(id)
                free = max(0, free - wanted)
            } else {
                isShort = true
            }
        }
        guard isShort else { return wakes }
        return wakes + accounts.keys.sorted().filter { accounts[$0]?.arriving ?? 0 > 0 && !wakes.contains($0) }
    }

    func held(by id: UInt64) -> Int { accounts[id]?.held ?? 0 }
    func arriving(of id: UInt64) -> Int { accounts[id]?.arriving ?? 0 }
    func wanted(by id: UInt64) -> Int? { accounts[id]?.wanted }
}
