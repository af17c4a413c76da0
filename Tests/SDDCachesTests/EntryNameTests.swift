import SDDCaches
import Testing

@Suite struct EntryNameTests {
    @Test(
        "I4: MD5 of the key, as md5sum has it, and the extension",
        arguments: [
            ("https://example.com/a/b.jpg?w=1#x.png", "bf3083287106bacbd562c9c671cb20df.jpg"),
            ("photo.jpeg", "16ada05214aa9a815c6159c4ab557994.jpeg"),
            ("https://example.com/a/b", "03c4a502d40e51b68f4a6b367c699bf6"),
            ("https://example.com", "c984d06aafbecf6bc55569f964148ea3"),
            ("a.tar.gz", "273ebbf14b2c908291d81e9463dbe9b5.gz"),
            ("https://example.com/dir.d/file", "e7650174ed2b9c99d7c87cb4d4075e4a"),
            ("x.j:p", "3a3eb784606016e9a6fe6a4f07b6ae22.jp"),
            ("naïve/Ünï.png", "dd4d2d2de9a7ff84205fc5718d859041.png"),
            ("", "d41d8cd98f00b204e9800998ecf8427e"),
            ("mailto:a@b.c", "d499c1382421d79628e93c55f2bd2ddc.c"),
            ("http://h/a?b=/c.png", "7030080e83dc846a32f4039d69fe8dca"),
            (
                "x." + String(repeating: "e", count: 222),
                "940401055a8a3a5a7c117acb9fb38688."
                    + String(repeating: "e", count: 222)
            ),
            ("x." + String(repeating: "e", count: 223), "89bdc5c5d8e1af4eeaadc244856f03f3"),
        ])
    func namesTheFileOfAKey(key: String, name: String) {
        #expect(EntryName(key: key).full == name)
        #expect(EntryName.isEntry(name))
    }

    @Test(
        "only letters and digits of a URL's extension are percent-decoded",
        arguments: [
            ("http://h/a.%6Ap%67", ".jpg"), ("http://h/a.j%70%32", ".jp2"), ("http://h/a.%2e%2E", ".%2e%2E"),
            ("http://h/a.%2fb", ".b"), ("http://h/a.p%00", ".p"), ("http://h/a.%5C", ".%5C"),
            ("http://h/a.jpg00%00", ".jpg00"), ("http://h/a.j%3Ap%3a", ".jp"), ("http://h/a.%00", ""),
            ("a.jpg%00", ".jpg%00"),
            ("http://h/a.%", ".%"), ("http://h/a.%4", ".%4"), ("http://h/a.%g1", ".%g1"),
            ("http://h/a.%C3%BC", ".%C3%BC"),
            ("http://h/a%2Ejpg", ""), ("http://h/a.png?x.%6Ap%67", ".png"), ("a.%6Ap%67", ".%6Ap%67"),
            ("http://h/a.%25%36%31", ".%2561"), ("http://h/a.%6A:", ".j"),
        ])
    func readsEscapedExtensions(key: String, suffix: String) {
        let name = EntryName(key: key)
        #expect(String(name.full.dropFirst(32)) == suffix)
        #expect(EntryName.isEntry(name.full))
    }

    @Test func isNoLongerThanAFileNameMayBe() {
        #expect(EntryName(key: "x." + String(repeating: "e", count: 222)).full.utf8.count == 255)
    }

    @Test func removesNULBytes() {
        #expect(EntryName(key: "x.p\0ng").full.utf8.suffix(4).elementsEqual(".png".utf8))
        #expect(EntryName(key: "x.\0").full.utf8.count == 32)
    }

    @Test("I5: the name without extension comes second")
    func alsoGivesTheNameWithoutExtension() {
        let digits = "16ada05214aa9a815c6159c4ab557994"
        #expect(EntryName(key: "photo.jpeg").other == digits)
        #expect(EntryName(key: "").other == nil)
    }

    @Test(arguments: [
        "ledger", "trim.lock", "new.1-2-3.x", "16ada05214aa9a815c6159c4ab55799", "16ADA05214AA9A815C6159C4AB557994",
        "16ada05214aa9a815c6159c4ab557994.", "16ada05214aa9a815c6159c4ab557994x", "", "README",
    ])
    func otherNamesAreNotEntries(name: String) {
        #expect(!EntryName.isEntry(name))
    }
}
