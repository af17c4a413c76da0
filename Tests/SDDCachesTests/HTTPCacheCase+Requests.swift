import SDDCaches

/// Directives of requests: RFC 9111 §5.2.1, §5.4, methods, preconditions, and the options of a request.
extension HTTPCacheCase {
    static let requests: [HTTPCacheCase] = [
        .init(
            "9111 §5.2.1.1: max-age=0", ["Cache-Control: max-age=60"], ask: ["Cache-Control: max-age=0"], after: 1,
            gives: asks()),
        .init(
            "9111 §5.2.1.1: not older than max-age", ["Cache-Control: max-age=60"], ask: ["Cache-Control: max-age=10"],
            after: 10,
            gives: .fresh(age: 10)),
        .init(
            "9111 §5.2.1.1: older than max-age", ["Cache-Control: max-age=60"], ask: ["Cache-Control: max-age=10"],
            after: 11,
            gives: asks()),
        .init(
            "9111 §5.2.1.1: Age counts for max-age", ["Cache-Control: max-age=60", "Age: 20"],
            ask: ["Cache-Control: max-age=10"],
            gives: asks()),
        .init(
            "9111 §5.2.1.1: max-age longer than the lifetime", ["Cache-Control: max-age=60"],
            ask: ["Cache-Control: max-age=100"], after: 60, gives: asks()),
        .init(
            "9111 §5.2.1.1: max-age that is not a number", ["Cache-Control: max-age=60"],
            ask: ["Cache-Control: max-age=x"],
            after: 1, gives: asks()),
        .init(
            "9111 §5.2.1.2: max-stale", ["Cache-Control: max-age=60"], ask: ["Cache-Control: max-stale"], after: 9999,
            gives: .stale(age: 9999)),
        .init(
            "9111 §5.2.1.2: within max-stale", ["Cache-Control: max-age=60"], ask: ["Cache-Control: max-stale=10"],
            after: 70,
            gives: .stale(age: 70)),
        .init(
            "9111 §5.2.1.2: beyond max-stale", ["Cache-Control: max-age=60"], ask: ["Cache-Control: max-stale=10"],
            after: 71,
            gives: asks()),
        .init(
            "9111 §5.2.1.2: max-stale with Age", ["Cache-Control: max-age=60", "Age: 65"],
            ask: ["Cache-Control: max-stale=10"],
            after: 5, gives: .stale(age: 70)),
        .init(
            "9111 §5.2.1.2: max-stale that is not a number", ["Cache-Control: max-age=60"],
            ask: ["Cache-Control: max-stale=x"],
            after: 60, gives: asks()),
        .init(
            "9111 §5.2.1.2: max-stale twice, the one with a limit counts", ["Cache-Control: max-age=60"],
            ask: ["Cache-Control: max-stale, max-stale=1"], after: 90, gives: asks()),
        .init(
            "9111 §5.2.1.2: max-stale with a fresh response", ["Cache-Control: max-age=60"],
            ask: ["Cache-Control: max-stale"],
            gives: .fresh(age: 0)),
        .init(
            "9111 §5.2.2.2: must-revalidate before max-stale", ["Cache-Control: max-age=60, must-revalidate"],
            ask: ["Cache-Control: max-stale"], after: 60, gives: asks()),
        .init(
            "9111 §5.2.2.4: no-cache before max-stale", ["Cache-Control: no-cache"], ask: ["Cache-Control: max-stale"],
            gives: asks()),
        .init(
            "9111 §5.2.1.1: max-age with max-stale", ["Cache-Control: max-age=60"],
            ask: ["Cache-Control: max-age=100, max-stale"], after: 80, gives: .stale(age: 80)),
        .init(
            "9111 §5.2.1.1: max-age counts beside max-stale", ["Cache-Control: max-age=60"],
            ask: ["Cache-Control: max-age=70, max-stale"], after: 80, gives: asks()),
        .init(
            "9111 §5.2.1.3: min-fresh", ["Cache-Control: max-age=60"], ask: ["Cache-Control: min-fresh=10"], after: 50,
            gives: .fresh(age: 50)),
        .init(
            "9111 §5.2.1.3: not fresh for min-fresh", ["Cache-Control: max-age=60"],
            ask: ["Cache-Control: min-fresh=10"],
            after: 51, gives: asks()),
        .init(
            "9111 §5.2.1.3: min-fresh with Age", ["Cache-Control: max-age=60", "Age: 51"],
            ask: ["Cache-Control: min-fresh=10"],
            gives: asks()),
        .init(
            "9111 §5.2.1.3: min-fresh that is not a number", ["Cache-Control: max-age=60"],
            ask: ["Cache-Control: min-fresh=x"],
            gives: asks()),
        .init(
            "9111 §5.2.1.4: no-cache", ["Cache-Control: max-age=60", "ETag: \"a\""], ask: ["Cache-Control: no-cache"],
            gives: asks("If-None-Match: \"a\"")),
        .init("9111 §5.4: Pragma", ["Cache-Control: max-age=60"], ask: ["Pragma: no-cache"], gives: asks()),
        .init(
            "9111 §5.4: Pragma beside Cache-Control", ["Cache-Control: max-age=60"],
            ask: ["Pragma: no-cache", "Cache-Control: max-age=9"], gives: .fresh(age: 0)),
        .init(
            "9111 §5.4: another Pragma", ["Cache-Control: max-age=60"], ask: ["Pragma: x, max-age=0"], after: 1,
            gives: .fresh(age: 1)),
        .init(
            "9111 §5.2.1.5: no-store", ["Cache-Control: max-age=60"], ask: ["Cache-Control: no-store"], gives: .bypass),
        .init(
            "9111 §5.2.1.6: no-transform is ignored", ["Cache-Control: max-age=60"],
            ask: ["Cache-Control: no-transform"], gives: .fresh(age: 0)),
        .init(
            "9111 §5.2.3: unknown directives are ignored", ["Cache-Control: max-age=60"],
            ask: ["Cache-Control: frobnicate=1"], gives: .fresh(age: 0)),
        .init(
            "9111 §5.2.1.7: only-if-cached with a fresh response", ["Cache-Control: max-age=60"],
            ask: ["Cache-Control: only-if-cached"], gives: .fresh(age: 0)),
        .init(
            "9111 §5.2.1.7: only-if-cached with a stale response", ["Cache-Control: max-age=60"],
            ask: ["Cache-Control: only-if-cached"],
            after: 60, gives: .unavailable),
        .init(
            "9111 §5.2.1.7: only-if-cached with max-stale", ["Cache-Control: max-age=60"],
            ask: ["Cache-Control: only-if-cached, max-stale"], after: 60, gives: .stale(age: 60)),
        .init(
            "9111 §5.2.1.7: only-if-cached with max-stale does not revalidate",
            ["Cache-Control: max-age=60, stale-while-revalidate=30"],
            ask: ["Cache-Control: only-if-cached, max-stale"], after: 60, gives: .stale(age: 60)),
        .init(
            "9111 §5.2.1.7: only-if-cached does not revalidate",
            ["Cache-Control: max-age=60, stale-while-revalidate=30"],
            ask: ["Cache-Control: only-if-cached"], after: 60, gives: .unavailable),
        .init(
            "9111 §5.2.1.7: only-if-cached with another method", ["Cache-Control: max-age=60"],
            ask: ["Cache-Control: only-if-cached"],
            gives: .unavailable, method: "POST"),
        .init(
            "9111 §4: unsafe methods are written through", ["Cache-Control: max-age=60"], gives: .bypass, method: "POST"
        ),
        .init("9111 §4: DELETE", ["Cache-Control: max-age=60"], gives: .bypass, method: "DELETE"),
        .init("9111 §4: HEAD is not answered", ["Cache-Control: max-age=60"], gives: .bypass, method: "HEAD"),
        .init(
            "9110 §9.1: methods are compared with case", ["Cache-Control: max-age=60"], gives: .bypass, method: "get"),
        .init(
            "9110 §14.2: one range", ["Cache-Control: max-age=60"], ask: ["Range: bytes=0-9"], gives: .fresh(age: 0)),
        .init(
            "9110 §14.2: several ranges", ["Cache-Control: max-age=60"], ask: ["Range: bytes=0-1,3-4"], gives: .bypass),
        .init(
            "9110 §13.2.2: a range and a condition", ["Cache-Control: max-age=60"],
            ask: ["Range: bytes=0-1", "If-Match: \"a\""], gives: .bypass),
        .init("9110 §13.1.5: If-Range alone", ["Cache-Control: max-age=60"], ask: ["If-Range: \"a\""], gives: .bypass),
        .init(
            "9110 §13.1.2: the request's If-None-Match", ["Cache-Control: max-age=60"], ask: ["If-None-Match: \"a\""],
            gives: .bypass),
        .init(
            "9110 §13.1.3: the request's If-Modified-Since", ["Cache-Control: max-age=60"],
            ask: ["if-modified-since: \(Moment.start)"], gives: .bypass),
        .init(
            "9110 §13.1.1: the request's If-Match", ["Cache-Control: max-age=60"], ask: ["If-Match: *"], gives: .bypass),
        .init(
            "9111 §3.5: a private cache may answer with Authorization", ["Cache-Control: max-age=60"],
            ask: ["Authorization: Basic YTpi"], gives: .fresh(age: 0)),
        .init(
            "9111 §7.3: a private cache may answer with Cookie", ["Cache-Control: max-age=60"], ask: ["Cookie: a=b"],
            gives: .fresh(age: 0)),
        .init("reload: as if nothing were stored", ["Cache-Control: max-age=60"], gives: .miss, ignoresCache: true),
    ]

    static let offline: [HTTPCacheCase] = [
        .init(
            "9111 §4.2.4: offline and fresh", ["Cache-Control: max-age=60"], after: 1, gives: .fresh(age: 1),
            isOffline: true),
        .init(
            "9111 §4.2.4: offline and stale", ["Cache-Control: max-age=60"], after: 99, gives: .stale(age: 99),
            isOffline: true),
        .init(
            "9111 §4.2.4: offline with no-cache", ["Cache-Control: no-cache, must-revalidate"], after: 9,
            gives: .stale(age: 9), isOffline: true),
        .init(
            "9111 §4.2.4: offline, directives on ages are ignored", ["Cache-Control: max-age=60"],
            ask: ["Cache-Control: no-cache, max-age=0"], after: 1, gives: .fresh(age: 1), isOffline: true),
        .init(
            "9111 §5.2.2.5: offline, but no-store forbids it", ["Cache-Control: no-store"], gives: .unavailable,
            isOffline: true),
        .init(
            "9111 §4.1: offline with another variant", ["Vary: Accept"], ask: ["Accept: b"], gives: .unavailable,
            asked: ["Accept: a"], isOffline: true),
        .init(
            "9111 §4: offline with another method", ["Cache-Control: max-age=60"], gives: .unavailable, method: "POST",
            isOffline: true),
        .init(
            "9110 §14.2: offline with one range", ["Cache-Control: max-age=60"], ask: ["Range: bytes=0-9"], after: 99,
            gives: .stale(age: 99), isOffline: true),
        .init(
            "9110 §14.2: offline with several ranges", ["Cache-Control: max-age=60"], ask: ["Range: bytes=0-1,3-4"],
            gives: .unavailable, isOffline: true),
        .init(
            "reload has no meaning offline", ["Cache-Control: max-age=60"], gives: .fresh(age: 0), isOffline: true,
            ignoresCache: true),
    ]
}
