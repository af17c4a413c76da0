import SDDCaches

/// Parsing of directives: RFC 9111 §1.2.2, §4.2.1 and §5.2.
extension HTTPCacheCase {
    static let parsing: [HTTPCacheCase] = [
        .init("9111 §5.2: names of directives have no case", ["Cache-Control: MaX-AgE=60"], gives: .fresh(age: 0)),
        .init("9111 §5.2: the field's name has no case", ["cache-CONTROL: max-age=60"], gives: .fresh(age: 0)),
        .init(
            "9111 §5.2: lists, with white space", ["Cache-Control:  public\t,\t max-age=60  "], gives: .fresh(age: 0)),
        .init("9110 §5.6.1: empty members", ["Cache-Control: ,, ,max-age=60,"], gives: .fresh(age: 0)),
        .init(
            "9110 §5.3: several lines are one list", ["Cache-Control: public", "Cache-Control: max-age=60"],
            gives: .fresh(age: 0)),
        .init("9111 §5.2: the quoted form", ["Cache-Control: max-age=\"60\""], gives: .fresh(age: 0)),
        .init("9110 §5.6.4: a quoted pair", ["Cache-Control: max-age=\"\\6\\0\""], gives: .fresh(age: 0)),
        .init(
            "9110 §5.6.4: directives in a quoted string do not count",
            ["Cache-Control: a=\"max-age=3600, b\", max-age=1"], after: 1, gives: asks()),
        .init(
            "9110 §5.6.4: a quoted string after max-age does not count",
            ["Cache-Control: max-age=1, a=\"max-age=3600\""], after: 1, gives: asks()),
        .init(
            "9110 §5.6.4: a quote in a quoted string", ["Cache-Control: a=\"\\\", max-age=0, \", max-age=60"],
            gives: .fresh(age: 0)),
        .init(
            "9110 §5.6.4: an unclosed quote does not hide a no-cache", ["Cache-Control: max-age=60, a=\"b, no-cache"],
            gives: asks()),
        .init("9111 §4.2.1: single quotes are not quotes", ["Cache-Control: max-age='60'"], gives: asks()),
        .init("9111 §4.2.1: space before =", ["Cache-Control: max-age =60"], gives: asks()),
        .init("9111 §4.2.1: space after =", ["Cache-Control: max-age= 60"], gives: asks()),
        .init("9111 §4.2.1: a negative max-age", ["Cache-Control: max-age=-60"], gives: asks()),
        .init("9111 §4.2.1: a fraction", ["Cache-Control: max-age=60.0"], gives: asks()),
        .init("9111 §4.2.1: letters before the number", ["Cache-Control: max-age=a60"], gives: asks()),
        .init("9111 §4.2.1: letters after the number", ["Cache-Control: max-age=60a"], gives: asks()),
        .init("9111 §4.2.1: no argument", ["Cache-Control: max-age"], gives: asks()),
        .init("9111 §4.2.1: an empty argument", ["Cache-Control: max-age="], gives: asks()),
        .init("9111 §4.2.1: an empty quoted argument", ["Cache-Control: max-age=\"\""], gives: asks()),
        .init("9111 §4.2.1: digits of another script", ["Cache-Control: max-age=\u{0666}\u{0660}"], gives: asks()),
        .init(
            "9111 §4.2.1: an invalid max-age is stale, despite Expires",
            ["Cache-Control: max-age=x", "Expires: \(Moment.hourAfter)"], gives: asks()),
        .init("9111 §1.2.2: leading zeros", ["Cache-Control: max-age=0060"], after: 59, gives: .fresh(age: 59)),
        .init("9111 §1.2.2: 2^31", ["Cache-Control: max-age=2147483648"], after: 86_400, gives: .fresh(age: 86_400)),
        .init(
            "9111 §1.2.2: over 2^31 is 2^31", ["Cache-Control: max-age=99999999999"], after: 2_147_483_647,
            gives: .fresh(age: 2_147_483_647)),
        .init(
            "9111 §1.2.2: not more than 2^31", ["Cache-Control: max-age=99999999999"], after: 2_147_483_648,
            gives: asks()),
        .init(
            "9111 §1.2.2: over 2^64", ["Cache-Control: max-age=99999999999999999999999999"], gives: .fresh(age: 0)),
        .init(
            "9111 §4.2.1: two max-age that differ, the first longer", ["Cache-Control: max-age=1800, max-age=1"],
            gives: asks()),
        .init(
            "9111 §4.2.1: two max-age that differ, the first shorter", ["Cache-Control: max-age=1, max-age=1800"],
            gives: asks()
        ),
        .init(
            "9111 §4.2.1: two max-age that differ, in two lines",
            ["Cache-Control: max-age=1800", "Cache-Control: max-age=1"],
            gives: asks()),
        .init("9111 §4.2.1: two max-age that agree", ["Cache-Control: max-age=60, max-age=060"], gives: .fresh(age: 0)),
        .init("9111 §5.2.3: unknown directives", ["Cache-Control: a, b=c, d=\"e\", max-age=60"], gives: .fresh(age: 0)),
        .init("9111 §5.2: another name with the same beginning", ["Cache-Control: max-age-x=60"], gives: asks()),
    ]
}
