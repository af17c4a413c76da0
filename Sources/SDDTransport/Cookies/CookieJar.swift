internal import CCurl
internal import Glibc
package import SDDBase
internal import Synchronization

/// The cookies of one transport, as set by servers and by the application. libcurl stores them, and applies its rules
/// on domains, paths and Secure. Any thread.
package final class CookieJar: Sendable {
    private static let maxPerDomain = 50
    private static let maxCount = 3000

    let share: CurlShare
    /// A handle that never transfers anything; libcurl's cookie functions need a handle.
    private let handle: Monitor<Handle>
    private let file: CookieFile?
    /// Cookies that end with their jar, but that the file has: another program keeps them there, and so they stay.
    private let lasting: Set<Cookie.Place>
    private let changes = Atomic<UInt64>(0)
    /// Network threads that use the jar.
    private let users: Atomic<Int>

    private struct Handle: @unchecked Sendable {
        // Safety: used under the monitor alone.
        let easy: EasyHandle
        /// A handle with a jar of its own, for testing one cookie at a time.
        let trial: EasyHandle
        /// Number of cookies at the last count, and number of cookies that may have been added since.
        var known = 0
        var uncounted = 0

        func add(_ cookie: Cookie) -> Bool { (try? easy.set(CURLOPT_COOKIELIST, bytes: cookie.bytes)) != nil }
        func clear() { try? easy.set(CURLOPT_COOKIELIST, "ALL") }
        /// The cookies that have not expired. libcurl's list may include expired ones.
        var cookies: [Cookie] {
            easy.texts(CURLINFO_COOKIELIST).compactMap { Cookie(bytes: $0) }.filter { !CookieJar.isOver($0) }
        }

        /// Whether libcurl accepts the cookie, which its functions do not report.
        func takes(_ cookie: Cookie) -> Bool {
            defer { try? trial.set(CURLOPT_COOKIELIST, "ALL") }
            guard (try? trial.set(CURLOPT_COOKIELIST, bytes: cookie.bytes)) != nil else { return false }
            let taken = trial.texts(CURLINFO_COOKIELIST).compactMap { Cookie(bytes: $0) }
            return taken.contains { $0.hasSamePlace(as: cookie) && $0.value == cookie.value }
        }

        /// Records that cookies may have been added. Counting them makes libcurl list all cookies, so it is not done
        /// each time.
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

    /// - Parameters:
    ///   - file: Read now, if it exists, and written by `save`.
    ///   - users: The number of network threads that will use it.
    package init(file: String?, users: Int = 1) throws(TransportError) {
        self.users = Atomic(users)
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
        lasting = Set(cookies.lazy.filter { $0.expires == 0 }.map(\.place))
        var handle = Handle(easy: easy, trial: trial)
        // libcurl goes through all cookies each time one is added, so a file with too many is trimmed first.
        for cookie in Self.kept(of: cookies.filter { Self.isAcceptable($0) }) {
            _ = handle.add(cookie)
            handle.added(1)
        }
        handle.trim()
        self.handle = Monitor(handle)
    }

    /// Records that a network thread uses the jar no more.
    /// - Returns: Whether it was the last one.
    func isLeftByLast() -> Bool { users.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 }

    /// A number that changes whenever the application or a response changes the jar.
    package var version: UInt64 { changes.load(ordering: .acquiring) }

    private func changed() { changes.add(1, ordering: .releasing) }

    /// Records that a transfer has changed the jar.
    func changedByServer() { changed() }

    /// Returns the cookies that have not expired.
    package func all() -> [Cookie] {
        let cookies = handle.withLock { handle in
            handle.trim()
            return handle.cookies
        }
        return cookies.map(\.normalized)
    }

    /// Adds or replaces a cookie.
    /// - Returns: `false` if the cookie is malformed, too long, for a public suffix, or refused by libcurl.
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

    /// Removes cookies.
    /// - Parameter domain: Only cookies of this domain and its subdomains are removed; `nil` removes all.
    package func clear(domain: String?) {
        defer { changed() }
        handle.withLock { handle in
            guard let domain else { return handle.clear() }
            let parent = String(domain.drop { $0 == "." }).lowercased()
            // Lines of other domains are skipped without parsing them, because there are many more of those.
            let lines = handle.easy.texts(CURLINFO_COOKIELIST).filter { Self.isBelow(parent, line: $0) }
            for cookie in lines.compactMap({ Cookie(bytes: $0) })
            where !Self.isOver(cookie) && cookie.belongs(to: parent) {
                _ = handle.add(cookie.deletion)
            }
        }
    }

    /// Writes the cookie file, if one is configured.
    package func save() throws(TransportError) {
        try file?.write(all().filter { $0.expires != 0 || lasting.contains($0.place) })
    }

    /// Records that servers have set `count` cookies, and removes those over the limits from time to time.
    func added(_ count: Int) { handle.withLock { $0.added(count) } }
}

// MARK: - Cookies for a host

extension CookieJar {
    /// Returns every cookie that a request to the URL's host may carry, whatever its path and scheme, as sorted
    /// "name=value".
    package func cookies(for url: ImageURL) -> [String] {
        guard let host = URLParts(url.text).map(Self.host(of:)) else { return [] }
        let lines = handle.withLock { $0.easy.texts(CURLINFO_COOKIELIST) }
        return lines.filter { Self.isFor(host, line: $0) }.compactMap { Cookie(bytes: $0) }
            .map { $0.name + "=" + $0.value }.sorted()
    }

    /// Whether a line of libcurl's list may be for a host. Only the domain is parsed, because most lines are for other
    /// hosts.
    private static func isFor(_ host: String, line: [UInt8]) -> Bool {
        let domain = domain(ofLine: line)
        let end = host.utf8.suffix(domain.count)
        guard !domain.isEmpty, end.count == domain.count, zip(end, domain).allSatisfy({ $0 == HTTPFields.lowered($1) })
        else {
            return false
        }
        return end.startIndex == host.startIndex
            || host.utf8[host.utf8.index(before: end.startIndex)] == UInt8(ascii: ".")
    }

    /// Whether a line of libcurl's list may be for the domain `parent`, given in lower case, or a subdomain of it.
    private static func isBelow(_ parent: String, line: [UInt8]) -> Bool {
        let domain = domain(ofLine: line)
        let end = domain.suffix(parent.utf8.count)
        guard end.count == parent.utf8.count, zip(parent.utf8, end).allSatisfy({ $0 == HTTPFields.lowered($1) }) else {
            return false
        }
        return end.startIndex == domain.startIndex || domain[domain.index(before: end.startIndex)] == UInt8(ascii: ".")
    }

    private static func domain(ofLine line: [UInt8]) -> ArraySlice<UInt8> {
        var domain = line.prefix { $0 != UInt8(ascii: "\t") }
        if domain.starts(with: Cookie.httpOnlyMark.utf8) { domain = domain.dropFirst(Cookie.httpOnlyMark.utf8.count) }
        return domain.drop { $0 == UInt8(ascii: ".") }
    }

    /// Makes the cookie of a Set-Cookie line what libcurl has not made it, before any request can send it. Like libcurl, it
    /// discards a Secure cookie that came from another machine over an insecure connection.
    func complete(_ line: SetCookieLine, of url: ImageURL) {
        guard let parts = URLParts(url.text) else { return }
        let host = Self.host(of: parts)
        let mayBeSecure = url.scheme == .https || ["localhost", "127.0.0.1", "::1"].contains(host)
        handle.withLock { handle in
            for var cookie in Self.cookies(of: line, from: parts, in: handle.cookies) {
                if line.isOver || (line.isSecure && !cookie.secure && !mayBeSecure) {
                    _ = handle.add(cookie.deletion)
                    continue
                }
                cookie.secure = cookie.secure || line.isSecure
                cookie.httpOnly = cookie.httpOnly || line.isHTTPOnly
                // Without memory for the change, no cookie is better than one that is sent where it must not go.
                if !handle.add(cookie) { _ = handle.add(cookie.deletion) }
            }
        }
    }

    /// Returns the cookie that libcurl has made of a Set-Cookie line, if it has made one: a host must not change the
    /// cookies of another, also if it may add some for their common domain.
    private static func cookies(of line: SetCookieLine, from url: URLParts, in all: [Cookie]) -> [Cookie] {
        var made = Cookie(name: line.name, value: "", domain: line.domain ?? host(of: url))
        made.path = line.path ?? defaultPath(of: url)
        // libcurl gives the domain of an address no subdomains.
        made.includeSubdomains = line.domain != nil && IPAddress(made.domain) == nil
        return all.filter { $0.hasSamePlace(as: made) }
    }

    /// The host as libcurl's cookies have it: in lower case, an IPv6 address without brackets.
    private static func host(of url: URLParts) -> String { url.host.filter { $0 != "[" && $0 != "]" } }

    /// The path of a cookie that names none: RFC 6265 §5.1.4.
    private static func defaultPath(of url: URLParts) -> String {
        guard let path = url[CURLUPART_PATH], let end = path.lastIndex(of: "/") else { return "/" }
        return String(path[...end])
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

    /// Returns the cookies of a list that a jar keeps. Later cookies replace earlier ones.
    private static func kept(of cookies: [Cookie]) -> [Cookie] {
        var last: [Cookie.Place: Int] = [:]
        for (index, cookie) in cookies.enumerated() { last[cookie.place] = index }
        let lasting = cookies.enumerated().filter { last[$1.place] == $0 }.map(\.element)
        let surplus = Set(surplus(of: lasting).map(\.place))
        return lasting.filter { !surplus.contains($0.place) }
    }

    /// Returns the cookies over the limits, first of each domain and then in total: those that expire first, and among
    /// equal ones those that come first.
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
        // The index keeps cookies that expire at the same time in their order.
        let order = cookies.enumerated().sorted { a, b in
            let (endA, endB) = (end(of: a.element), end(of: b.element))
            return endA != endB ? endA < endB : a.offset < b.offset
        }
        surplus += order.prefix(excess).map(\.element)
        kept += order.dropFirst(excess).map(\.element)
    }

    /// Returns the time of expiry, as a sort key: cookies that end with their jar come last.
    private static func end(of cookie: Cookie) -> Int64 { cookie.expires == 0 ? .max : cookie.expires }
}
