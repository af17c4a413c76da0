internal import CCurl
internal import Glibc
package import SDDBase
internal import Synchronization

/// The cookies of one transport: those that its requests send and servers set, and the host's hand in both. libcurl
/// keeps them, and its rules on domains, paths and Secure hold. Any thread.
package final class CookieJar: Sendable {
    private static let maxPerDomain = 50
    private static let maxCount = 3000

    let share: CurlShare
    /// A handle that never transfers anything: libcurl's functions for cookies are a handle's.
    private let handle: Monitor<Handle>
    private let file: CookieFile?
    private let changes = Atomic<UInt64>(0)

    private struct Handle: @unchecked Sendable {
        // Safety: used under the monitor alone.
        let easy: EasyHandle
        /// A jar of its own, for one cookie at a time.
        let trial: EasyHandle
        /// Cookies at the last count, and those that may have come since.
        var known = 0
        var uncounted = 0

        func add(_ cookie: Cookie) -> Bool { (try? easy.set(CURLOPT_COOKIELIST, cookie.line)) != nil }
        func clear() { try? easy.set(CURLOPT_COOKIELIST, "ALL") }
        /// libcurl lists those too that it has not yet found to be over.
        var cookies: [Cookie] {
            easy.texts(CURLINFO_COOKIELIST).compactMap { Cookie(line: $0) }.filter { !CookieJar.isOver($0) }
        }

        /// Whether libcurl takes it, which it does not say.
        func takes(_ cookie: Cookie) -> Bool {
            defer { try? trial.set(CURLOPT_COOKIELIST, "ALL") }
            guard (try? trial.set(CURLOPT_COOKIELIST, cookie.line)) != nil else { return false }
            let taken = trial.texts(CURLINFO_COOKIELIST).compactMap { Cookie(line: $0) }
            return taken.contains { $0.hasSamePlace(as: cookie) && $0.value == cookie.value }
        }

        /// Some may have come. To count them libcurl must list all, so that is not done for each.
        mutating func added(_ count: Int) {
            uncounted += count
            if uncounted > max(CookieJar.maxPerDomain, known / 8) { trim() }
        }

        mutating func trim() {
            guard uncounted > 0 else { return }
            let all = cookies
            let surplus = CookieJar.surplus(of: all)
            for cookie in surplus { _ = add(cookie.deletion) }
            known = all.count - surplus.count
            uncounted = 0
        }
    }

    /// - Parameter file: read now, if it exists, and written by `save`.
    package init(file: String?) throws(TransportError) {
        let cookieFile = file.map { CookieFile(path: $0) }
        let cookies = try cookieFile?.read() ?? []
        guard let share = CurlShare(hasCookies: true), let easy = EasyHandle(), let trial = EasyHandle() else {
            throw .noMemoryForCookies
        }
        do throws(EasyHandle.Refusal) {
            try easy.set(CURLOPT_SHARE, share: share)
            try trial.set(CURLOPT_COOKIEFILE, "")
        } catch {
            throw .noMemoryForCookies
        }
        self.share = share
        self.file = cookieFile
        var handle = Handle(easy: easy, trial: trial)
        // libcurl looks at all cookies of a file for each one, so a file of too many is cut first.
        for cookie in Self.kept(of: cookies.filter { Self.isAcceptable($0) }) {
            _ = handle.add(cookie)
            handle.added(1)
        }
        handle.trim()
        self.handle = Monitor(handle)
    }

    /// Another one after each change: by the host, or by a response.
    package var version: UInt64 { changes.load(ordering: .acquiring) }

    private func changed() { changes.add(1, ordering: .releasing) }

    /// A transfer has brought cookies.
    func changedByServer() { changed() }

    /// The cookies that are not over.
    package func all() -> [Cookie] {
        let cookies = handle.withLock { handle in
            handle.trim()
            return handle.cookies
        }
        return cookies.map(\.normalized)
    }

    /// - Returns: false for one that cannot be: malformed, too long, for a public suffix, or refused by libcurl.
    package func set(_ cookie: Cookie) -> Bool {
        var cookie = cookie
        cookie.domain = String(cookie.domain.drop { $0 == "." })
        guard Self.isAcceptable(cookie) else { return false }
        defer { changed() }
        return handle.withLock { handle in
            guard Self.isOver(cookie) || handle.takes(cookie), handle.add(cookie) else { return false }
            handle.added(1)
            return true
        }
    }

    /// - Parameter domain: and the domains below it; nil: all.
    package func clear(domain: String?) {
        defer { changed() }
        handle.withLock { handle in
            guard let domain else { return handle.clear() }
            let parent = String(domain.drop { $0 == "." }).lowercased()
            // One of another domain is not read: there are many more of those.
            let lines = handle.easy.texts(CURLINFO_COOKIELIST).filter { Self.isBelow(parent, line: $0) }
            for cookie in lines.compactMap({ Cookie(line: $0) })
            where !Self.isOver(cookie) && cookie.belongs(to: parent) {
                _ = handle.add(cookie.deletion)
            }
        }
    }

    /// Writes the file, if there is to be one.
    package func save() throws(TransportError) { try file?.write(all()) }

    /// Servers have set some, and perhaps more than there may be.
    func added(_ count: Int) { handle.withLock { $0.added(count) } }
}

// MARK: - What goes to a host

extension CookieJar {
    /// "name=value" of every cookie that a request to the URL's host may carry, whatever its path and scheme, sorted.
    package func cookies(for url: ImageURL) -> [String] {
        let host = URLText.host(url.text).lowercased()
        let lines = handle.withLock { $0.easy.texts(CURLINFO_COOKIELIST) }
        return lines.filter { Self.isFor(host, line: $0) }.compactMap { Cookie(line: $0) }
            .map { $0.name + "=" + $0.value }.sorted()
    }

    /// Whether a line of the list may be for a host, without reading all of the line: most are for others.
    private static func isFor(_ host: String, line: String) -> Bool {
        let domain = domain(ofLine: line)
        let end = host.utf8.suffix(domain.count)
        guard !domain.isEmpty, end.count == domain.count, zip(end, domain).allSatisfy({ $0 == lowered($1) }) else {
            return false
        }
        return end.startIndex == host.startIndex
            || host.utf8[host.utf8.index(before: end.startIndex)] == UInt8(ascii: ".")
    }

    /// Whether a line of the list may be of that domain, which is in small letters, or of one below it.
    private static func isBelow(_ parent: String, line: String) -> Bool {
        let domain = domain(ofLine: line)
        let end = domain.suffix(parent.utf8.count)
        guard end.count == parent.utf8.count, zip(parent.utf8, end).allSatisfy({ $0 == lowered($1) }) else {
            return false
        }
        return end.startIndex == domain.startIndex || domain[domain.index(before: end.startIndex)] == UInt8(ascii: ".")
    }

    private static func domain(ofLine line: String) -> Substring.UTF8View {
        var domain = line.utf8.prefix { $0 != UInt8(ascii: "\t") }
        if domain.starts(with: Cookie.httpOnlyMark.utf8) { domain = domain.dropFirst(Cookie.httpOnlyMark.utf8.count) }
        return domain.drop { $0 == UInt8(ascii: ".") }
    }

    private static func lowered(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }

    /// A response of that host has set a cookie with attributes that libcurl has passed over: they are added, before
    /// anything can be sent with it. As by libcurl, one that is to be Secure and came over a connection that is not, to
    /// another machine, is not kept.
    func complete(_ line: SetCookieLine, of url: ImageURL) {
        let host = URLText.host(url.text).lowercased()
        let mayBeSecure = url.scheme == .https || ["localhost", "127.0.0.1", "[::1]"].contains(host)
        handle.withLock { handle in
            for var cookie in handle.cookies where cookie.name == line.name && !host.isEmpty {
                guard host == cookie.domain.lowercased() || host.hasSuffix("." + cookie.domain.lowercased()) else {
                    continue
                }
                if line.isSecure && !cookie.secure && !mayBeSecure {
                    _ = handle.add(cookie.deletion)
                    continue
                }
                cookie.secure = cookie.secure || line.isSecure
                cookie.httpOnly = cookie.httpOnly || line.isHTTPOnly
                // Without memory for it there is better none than one that goes where it must not.
                if !handle.add(cookie) { _ = handle.add(cookie.deletion) }
            }
        }
    }
}

// MARK: - Rules

extension CookieJar {
    private static func isAcceptable(_ cookie: Cookie) -> Bool {
        cookie.isWellFormed && !(cookie.includeSubdomains && PublicSuffix.contains(cookie.domain))
    }

    private static func isOver(_ cookie: Cookie) -> Bool {
        cookie.expires != 0 && cookie.expires <= Int64(time(nil))
    }

    /// Chooses the cookies of a list that a jar keeps: later ones take the place of earlier ones.
    private static func kept(of cookies: [Cookie]) -> [Cookie] {
        var last: [Cookie.Place: Int] = [:]
        for (index, cookie) in cookies.enumerated() { last[cookie.place] = index }
        let lasting = cookies.enumerated().filter { last[$1.place] == $0 }.map(\.element)
        let surplus = Set(surplus(of: lasting).map(\.place))
        return lasting.filter { !surplus.contains($0.place) }
    }

    /// Cookies over the limits, first of each domain and then of all: those that end soonest, and the first of equal
    /// ones.
    static func surplus(of cookies: [Cookie]) -> [Cookie] {
        guard cookies.count > maxPerDomain else { return [] }
        var kept: [Cookie] = []
        var surplus: [Cookie] = []
        for (_, group) in Dictionary(grouping: cookies, by: { $0.domain.lowercased() }) {
            divide(group, most: maxPerDomain, &kept, &surplus)
        }
        var rest: [Cookie] = []
        divide(kept, most: maxCount, &rest, &surplus)
        return surplus
    }

    private static func divide(_ cookies: [Cookie], most: Int, _ kept: inout [Cookie], _ surplus: inout [Cookie]) {
        let excess = cookies.count - most
        guard excess > 0 else { return kept += cookies }
        // The index keeps equal ones in their order.
        let order = cookies.enumerated().sorted { a, b in
            let (endA, endB) = (end(of: a.element), end(of: b.element))
            return endA != endB ? endA < endB : a.offset < b.offset
        }
        surplus += order.prefix(excess).map(\.element)
        kept += order.dropFirst(excess).map(\.element)
    }

    /// One that ends with its jar counts as the last.
    private static func end(of cookie: Cookie) -> Int64 { cookie.expires == 0 ? .max : cookie.expires }
}
