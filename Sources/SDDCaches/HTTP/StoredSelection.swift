package import SDDBase

/// For which request fields a stored response is (RFC 9111 §4.1), as far as its server has said it: what an entry keeps
/// where HTTP would not have it kept, and what is asked of any entry before it is shown to somebody. Values are marks
/// (`SecretKey`). A value.
package struct StoredSelection: Equatable, Sendable {
    /// Sorted by name; one named "*" stands for all fields of the request.
    package let fields: [SelectingField]

    init(fields: [SelectingField]) { self.fields = fields }

    /// - Parameters:
    ///   - response: its Vary counts. How a picture was packed on its way does not change it.
    ///   - headers: of its request.
    package init(varyOf response: ResponseFields, _ headers: HTTPFields, _ secret: SecretKey) {
        let names = CacheRules.names(inVaryOf: response) ?? [Self.all]
        fields = Self.fields(names.filter { $0 != "accept-encoding" }, of: headers, secret)
    }

    package func selects(_ headers: HTTPFields, _ secret: SecretKey) -> Bool {
        fields.isEmpty || Self.fields(fields.map { $0.name }, of: headers, secret) == fields
    }

    private static let all = "*"

    private static func fields(_ names: [String], of headers: HTTPFields, _ secret: SecretKey) -> [SelectingField] {
        names.map { name in
            guard name == all else { return CacheRules.selecting(name, of: headers, secret) }
            let lines = headers.fields.map { FieldText.lowered($0.name.utf8) + ":" + $0.value }.sorted()
            return SelectingField(name: name, value: secret.mark(of: "vary\n*\n" + lines.joined(separator: "\n")))
        }
    }
}
