package import SDDBase

/// The request fields that a response was selected by (RFC 9111 §4.1), as far as its server named them. An entry that
/// HTTP's rules do not allow to be stored keeps just these, and they are checked for every entry before it is shown to
/// a caller. Values are marks (`SecretKey`). A value type.
package struct StoredSelection: Equatable, Sendable {
    /// The fields, sorted by name; "*" stands for all fields of the request.
    package let fields: [SelectingField]

    init(fields: [SelectingField]) { self.fields = fields }

    /// - Parameters:
    ///   - response: the fields of the response, of which Vary is used; nil stands for "Vary: *". Accept-Encoding is
    ///     ignored, since the content coding does not change the image.
    ///   - headers: the fields of its request.
    package init(varyOf response: ResponseFields?, _ headers: HTTPFields, _ secret: SecretKey) {
        let names = response.flatMap { Vary.names(in: $0) } ?? [Self.all]
        fields = Self.fields(names.filter { $0 != "accept-encoding" }, of: headers, secret)
    }

    package func selects(_ headers: HTTPFields, _ secret: SecretKey) -> Bool {
        fields.isEmpty || Self.fields(fields.map { $0.name }, of: headers, secret) == fields
    }

    private static let all = "*"

    private static func fields(_ names: [String], of headers: HTTPFields, _ secret: SecretKey) -> [SelectingField] {
        names.map { name in
            guard name == all else { return Vary.selecting(name, of: headers, secret) }
            let lines = headers.fields.map { FieldText.lowered($0.name.utf8) + ":" + $0.value }.sorted()
            return SelectingField(name: name, value: secret.mark(of: "vary\n*\n" + lines.joined(separator: "\n")))
        }
    }
}
