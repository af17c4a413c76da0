import SDDBase
import Testing

@Suite struct HTTPFieldsTests {
    @Test func findsAFieldInAnyCase() {
        // given
        var fields = HTTPFields()
        // when
        fields.set("Accept", to: "image/png")
        // then
        #expect(fields["accept"] == "image/png")
        #expect(fields["ACCEPT"] == "image/png")
        #expect(fields["Accept-Language"] == nil)
    }

    @Test func replacesInPlaceWithTheNewSpelling() {
        // given
        var fields = HTTPFields()
        fields.set("Accept", to: "a")
        fields.set("Referer", to: "b")
        // when
        fields.set("ACCEPT", to: "c")
        // then
        #expect(fields.fields.map(\.name) == ["ACCEPT", "Referer"])
        #expect(fields.fields.map(\.value) == ["c", "b"])
    }

    @Test func removesAFieldSetToNil() {
        // given
        var fields = HTTPFields()
        fields.set("A", to: "1")
        fields.set("B", to: "2")
        // when
        fields.set("a", to: nil)
        fields.set("not there", to: nil)
        // then
        #expect(fields.fields.map(\.name) == ["B"])
    }

    @Test func aNameMayOccurMoreThanOnce() {
        // given
        var fields = HTTPFields()
        fields.append("A", "1")
        fields.append("B", "2")
        fields.append("a", "3")
        fields.append("A", "4")
        // when, then: the first one, and all
        #expect(fields["a"] == "1")
        #expect(fields.combined("a") == "1, 3, 4")
        #expect(fields.combined("b") == "2" && fields.combined("c") == nil)
        // when one replaces all
        var one = fields
        one.set("a", to: "5")
        #expect(one.fields.map { $0.name + $0.value } == ["a5", "B2"])
        // when all are removed
        fields.set("a", to: nil)
        #expect(fields.fields.map { $0.name + $0.value } == ["B2"])
    }

    @Test func valuesAreComparedByTheirBytes() {
        for (a, b) in [("\u{e9}", "e\u{301}"), ("K", "\u{212a}")] {
            var (one, other) = (HTTPFields(), HTTPFields())
            one.set("A", to: a)
            other.set("A", to: b)
            #expect(one != other && one.hashKey != other.hashKey)
        }
    }

    @Test func equalFieldsHaveTheSameHashKey() {
        // given
        var (a, b) = (HTTPFields(), HTTPFields())
        a.append("A", "1")
        a.append("A", "2")
        b.set("A", to: "1")
        #expect(a != b && a.hashKey != b.hashKey)
        // when
        b.append("A", "2")
        // then
        #expect(a == b && a.hashKey == b.hashKey)
    }

    @Test func keepsAnEmptyValue() {
        // given
        var fields = HTTPFields()
        // when
        fields.set("Accept", to: "")
        // then
        #expect(fields["Accept"] == "")
    }

    @Test func onlyLettersAreComparedWithoutCase() {
        // given: '[' and '{' differ in the same bit as 'A' and 'a'
        var fields = HTTPFields()
        fields.set("a^b", to: "1")
        // when, then
        #expect(fields["a~b"] == nil)
        #expect(fields["A^B"] == "1")
    }

    @Test(arguments: ["Accept", "x-1", "!#$%&'*+-.^_`|~", "0"])
    func takesATokenAsName(name: String) {
        #expect(isToken(name))
    }

    @Test(arguments: ["", "a b", "a:", "a\r\nb", "a\u{0}", "(a)", "ä", "a\t", "\"a\"", "a,b", "\u{7f}"])
    func refusesNamesThatAreNotTokens(name: String) {
        #expect(!isToken(name))
    }

    @Test(arguments: ["", "text/html; q=0.5", "tab\there", "ünicode", "\u{80}"])
    func takesAValue(value: String) {
        #expect(isValue(value))
    }

    @Test(arguments: ["a\r\nX: b", "a\rb", "a\nb", "a\u{0}b", "\u{7f}", "\u{1b}[0m"])
    func refusesAValueWithControlCharacters(value: String) {
        #expect(!isValue(value))
    }

    private func isToken(_ text: String) -> Bool {
        Array(text.utf8).withUnsafeBufferPointer { HTTPFields.isToken($0) }
    }

    private func isValue(_ text: String) -> Bool {
        Array(text.utf8).withUnsafeBufferPointer { HTTPFields.isValue($0) }
    }
}
