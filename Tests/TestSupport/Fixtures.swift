package import SDDBase

/// Access to the files of Tests/Fixtures.
package enum Fixtures {
    /// The fixture directory, found from the path of this source file at compile time.
    package static let directory: String = {
        let parts = #filePath.split(separator: "/").dropLast(2)
        return "/" + parts.joined(separator: "/") + "/Fixtures"
    }()

    package static func path(_ name: String) -> String { directory + "/" + name }

    /// The content of a fixture.
    package static func bytes(_ name: String) throws(TestSupportFailure) -> Bytes {
        let content = try array(name)
        guard let bytes = content.withUnsafeBytes({ Bytes(copying: $0) }) else {
            throw TestSupportFailure("no memory for \(name)")
        }
        return bytes
    }

    package static func array(_ name: String) throws(TestSupportFailure) -> [UInt8] {
        guard let content = readFile(path(name)) else { throw TestSupportFailure("cannot read \(path(name))") }
        return content
    }
}

/// A missing prerequisite of a test: a file, a program, a port. It is not a failure of the code under test.
package struct TestSupportFailure: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}
