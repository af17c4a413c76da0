import SDDCaches

/// Selection of a variant: RFC 9111 §4.1.
extension HTTPCacheCase {
    private static func vary(
        _ rule: String, _ vary: String..., asked: [String] = [], ask: [String] = [], gives: CacheAnswer
    ) -> HTTPCacheCase {
        .init(rule, ["Cache-Control: max-age=60"] + vary.map { "Vary: " + $0 }, ask: ask, gives: gives, asked: asked)
    }

    static let variants: [HTTPCacheCase] = [
        vary("9111 §4.1: the same value", "A", asked: ["A: 1"], ask: ["A: 1"], gives: .fresh(age: 0)),
        vary("9111 §4.1: another value", "A", asked: ["A: 1"], ask: ["A: 2"], gives: .miss),
        vary("9111 §4.1: sent now, but not with the stored request", "A", ask: ["A: 1"], gives: .miss),
        vary("9111 §4.1: sent with the stored request, but not now", "A", asked: ["A: 1"], gives: .miss),
        vary("9111 §4.1: sent with neither request", "A", gives: .fresh(age: 0)),
        vary("9111 §4.1: empty is not absent", "A", ask: ["A: "], gives: .miss),
        vary(
            "9111 §4.1: other fields do not matter", "A", asked: ["A: 1", "B: 1"], ask: ["A: 1", "B: 2"],
            gives: .fresh(age: 0)),
        vary(
            "9111 §4.1: names are compared without case", "aCCept", asked: ["Accept: x"], ask: ["ACCEPT: y"],
            gives: .miss),
        vary("9111 §4.1: two names", "A, B", asked: ["A: 1", "B: 1"], ask: ["B: 1", "A: 1"], gives: .fresh(age: 0)),
        vary(
            "9111 §4.1: two names, one differs", "A, B", asked: ["A: 1", "B: 1"], ask: ["A: 1", "B: 2"], gives: .miss),
        vary("9111 §4.1: two lines", "A", "B", asked: ["A: 1", "B: 1"], ask: ["A: 1", "B: 2"], gives: .miss),
        vary(
            "9111 §4.1: the values of two names are swapped", "A, B", asked: ["A: 1", "B: 2"], ask: ["A: 2", "B: 1"],
            gives: .miss),
        vary("9111 §4.1: *", "*", gives: .miss),
        vary("9111 §4.1: * among others", "A, *", gives: .miss),
        vary("9111 §4.1: * in a line of its own", "A", "*", gives: .miss),
        vary("9111 §4.1: * after an empty member", ", *", gives: .miss),
        vary("9111 §4.1: an invalid name", "A B", gives: .miss),
        vary("9110 §5.6.1: an empty list", ",", gives: .fresh(age: 0)),
        vary("9111 §4.1: white space around commas", "A", asked: ["A: 1, 2"], ask: ["A: 1 ,2"], gives: .fresh(age: 0)),
        vary("9111 §4.1: white space around the value", "A", asked: ["A: 1"], ask: ["A:  1\t"], gives: .fresh(age: 0)),
        vary(
            "9111 §4.1: white space around a parameter", "Accept", asked: ["Accept: a/b;q=1"],
            ask: ["Accept: a/b ; q=1"],
            gives: .fresh(age: 0)),
        vary(
            "9110 §5.6.4: white space in quotes matters", "A", asked: ["A: \"1, 2\""], ask: ["A: \"1,2\""], gives: .miss
        ),
        vary(
            "9111 §4.1: white space between words matters", "A", asked: ["A: a b"], ask: ["A: ab"], gives: .miss),
        vary("9111 §4.1: the order of values", "A", asked: ["A: 1, 2"], ask: ["A: 2, 1"], gives: .miss),
        vary(
            "9110 §12.5.4: languages are compared without case", "Accept-Language", asked: ["Accept-Language: EN, de"],
            ask: ["Accept-Language: en,DE"], gives: .fresh(age: 0)),
        vary(
            "9110 §12.5.4: languages are compared without order", "Accept-Language",
            asked: ["Accept-Language: en, de;q=0.5"], ask: ["Accept-Language: de;q=0.5,en"], gives: .fresh(age: 0)),
        vary(
            "9110 §12.5.4: other weights are another preference", "Accept-Language",
            asked: ["Accept-Language: en, de;q=0.5"], ask: ["Accept-Language: de,en;q=0.5"], gives: .miss),
        vary(
            "9110 §12.5.3: codings are compared without case", "Accept-Encoding", asked: ["Accept-Encoding: GZip"],
            ask: ["Accept-Encoding: gzip"], gives: .fresh(age: 0)),
        vary("9111 §4.1: other values are compared with case", "A", asked: ["A: x"], ask: ["A: X"], gives: .miss),
        vary(
            "9111 §4.1: texts that are canonically equivalent in Unicode", "A", asked: ["A: \u{e9}"],
            ask: ["A: e\u{301}"],
            gives: .miss),
    ]
}
