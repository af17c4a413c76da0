internal import CCurl
internal import Glibc
internal import SDDBase

/// The cookies of one transport: those that its requests send and servers set, and the host's hand in both. libcurl
/// keeps them, and its rules on domains, paths and Secure hold. Any thread.
package final class CookieJar: Sendable {
    private static let maxPerDomain = 50
    private static let maxCount = 3000

    let share: CookieShare
    /// A handle that never transfers anything: libcurl's functions for cookies are a handle's.
    private let handle: Monitor<Handle>
    private let file: CookieFile?

    private struct Handle: @unchecked Sendable {
        // Safety: used under the monitor alone.
        let easy: EasyHandle

        func add(_ cookie: Cookie) -> Bool { (try? easy.set(CURLOPT_COOKIELIST, cookie.line)) != nil }
        func clear() { try? easy.set(CURLOPT_COOKIELIST, "ALL") }
        /// libcurl lists those too that it has not yet found to be over.
        var cookies: [Cookie] {
            easy.texts(CURLINFO_COOKIELIST).compactMap { Cookie(line: $0) }.filter { !CookieJar.isOver($0) }
        }

        func trim() {
            for cookie in CookieJar.surplus(of: cookies) { _ = add(cookie.deletion) }
        }
    }

    /// - Parameter file: read now, if it exists, and written by `save`.
    package init(file: String?) throws(TransportError) {
        let cookieFile = file.map { CookieFile(path: $0) }
        let cookies = try cookieFile?.read() ?? []
        guard let share = CookieShare(), let raw = curl_easy_init() else { throw .noMemoryForCookies }
        let easy = EasyHandle(raw: raw)
        do throws(EasyHandle.Refusal) { try easy.set(CURLOPT_SHARE, share: share.raw) } catch {
            curl_easy_cleanup(raw)
            throw .noMemoryForCookies
        }
        self.share = share
        self.file = cookieFile
        let handle = Handle(easy: easy)
        for cookie in cookies where Self.isAcceptable(cookie) { _ = handle.add(cookie) }
        handle.trim()
        self.handle = Monitor(handle)
    }

    // Safety: nobody else has a reference any more. The share goes after the handle.
    deinit { handle.withLock { curl_easy_cleanup($0.easy.raw) } }

    /// Those that are not over.
    package func all() -> [Cookie] { handle.withLock { $0.cookies }.map(\.normalized) }

    /// - Returns: false for one that cannot be: malformed, too long, for a public suffix, or refused by libcurl.
    package func set(_ cookie: Cookie) -> Bool {
        var cookie = cookie
        cookie.domain = String(cookie.domain.drop { $0 == "." })
        guard Self.isAcceptable(cookie) else { return false }
        return handle.withLock { handle in
            guard handle.add(cookie) else { return false }
            handle.trim()
            // libcurl does not say whether it took it.
            let isThere = handle.cookies.contains { $0.hasSamePlace(as: cookie) && $0.value == cookie.value }
            return isThere || Self.isOver(cookie)
        }
    }

    /// - Parameter domain: and the domains below it; nil: all.
    package func clear(domain: String?) {
        handle.withLock { handle in
            guard let domain else { return handle.clear() }
            let parent = String(domain.drop { $0 == "." })
            for cookie in handle.cookies where cookie.belongs(to: parent) { _ = handle.add(cookie.deletion) }
        }
    }

    /// Writes the file, if there is to be one.
    package func save() throws(TransportError) { try file?.write(all()) }

    /// Servers may have set more than there may be.
    func trim() { handle.withLock { $0.trim() } }
}

// MARK: - Rules

extension CookieJar {
    private static func isAcceptable(_ cookie: Cookie) -> Bool {
        cookie.isWellFormed && !(cookie.includeSubdomains && PublicSuffix.contains(cookie.domain))
    }

    private static func isOver(_ cookie: Cookie) -> Bool {
        cookie.expires != 0 && cookie.expires <= Int64(time(nil))
    }

    /// What is too much: of each domain first, then of all, those that end soonest, and of equal ones the first.
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
