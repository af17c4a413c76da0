import SDDBase

extension ResponseFields {
    /// Makes fields from a test's table.
    init(_ fields: [(String, String)]) {
        var builder = ResponseFieldsBuilder()
        for (name, value) in fields {
            let isAdded = Array(name.utf8).withUnsafeBytes { name in
                Array(value.utf8).withUnsafeBytes { builder.append(name: name, value: $0) }
            }
            precondition(isAdded, "no memory")
        }
        self = builder.take()
    }

    /// The fields as tuples, in their order.
    var list: [String] {
        (0..<count).compactMap { at($0) }.map { "\(String(cString: $0.name)): \(String(cString: $0.value))" }
    }
}
