package import SDDBase

/// The HTTP statuses and media types that one caller accepts in a response. Immutable, shared by reference.
package final class Acceptance: Sendable {
    /// `nil` accepts every status.
    private let statuses: [ClosedRange<Int32>]?
    private let types: [String]?

    package static let all = Acceptance(statuses: nil, types: nil)
    package static let standard = Acceptance(statuses: [200...299], types: nil)

    private init(statuses: [ClosedRange<Int32>]?, types: [String]?) {
        self.statuses = statuses
        self.types = types
    }

    /// - Parameters:
    ///   - statuses: "200-299,304" or "*"; nil takes the statuses of `standard`.
    ///   - types: "image/*,text/plain" or "*"; nil takes the types of `standard`.
    /// - Returns: nil if either list is malformed.
    package init?(statuses: String?, types: String?, standard: Acceptance = .standard) {
        switch statuses {
        case nil: self.statuses = standard.statuses
        case "*": self.statuses = nil
        case let list?:
            guard let parsed = Self.parts(of: list).map({ parts in parts.compactMap(Self.range) }),
                parsed.count == Self.parts(of: list)?.count
            else { return nil }
            self.statuses = parsed
        }
        switch types {
        case nil: self.types = standard.types
        case "*": self.types = nil
        case let list?:
            guard let parts = Self.parts(of: list), parts.allSatisfy(Self.isType) else { return nil }
            self.types = parts.map { $0.lowercased() }
        }
    }

    /// Returns this acceptance with the statuses or types of another.
    func over(_ standard: Acceptance, leavesStatuses: Bool, leavesTypes: Bool) -> Acceptance {
        if !leavesStatuses, !leavesTypes { return self }
        return Acceptance(
            statuses: leavesStatuses ? standard.statuses : statuses, types: leavesTypes ? standard.types : types)
    }

    /// Returns the first malformed part of a list of statuses, or `nil` if the list is well formed.
    package static func wrongStatus(in list: String) -> String? {
        list == "*" ? nil : rawParts(of: list).first { $0.isEmpty || range($0) == nil }
    }

    /// Returns the first malformed part of a list of media types, or `nil` if the list is well formed.
    package static func wrongType(in list: String) -> String? {
        list == "*" ? nil : rawParts(of: list).first { !isType($0) }
    }

    /// True if the status is accepted. Always true for status 0, which schemes without a status (file:) have.
    func takes(status: Int32) -> Bool {
        guard status != 0, let statuses else { return true }
        return statuses.contains { $0.contains(status) }
    }

    /// - Parameter type: in lower case; "" if the response names none.
    func takes(type: @autoclosure () -> String) -> Bool {
        guard let types else { return true }
        let type = type()
        return types.contains { $0.hasSuffix("/*") ? type.hasPrefix($0.dropLast()) : $0 == type }
    }

    /// True if the body of the response is wanted.
    package func takes(_ response: Response) -> Bool { Judged(response).refusal(by: self) == nil }

    /// Returns the comma-separated parts without surrounding white space, or `nil` if one of them is empty.
    private static func parts(of list: String) -> [String]? {
        let parts = rawParts(of: list)
        return parts.allSatisfy { !$0.isEmpty } ? parts : nil
    }

    private static func rawParts(of list: String) -> [String] {
        let isSpace = { (character: Character) in character == " " || character == "\t" }
        return list.split(separator: ",", omittingEmptySubsequences: false).map { part in
            String(String(part.drop(while: isSpace).reversed()).drop(while: isSpace).reversed())
        }
    }

    private static func range(_ text: String) -> ClosedRange<Int32>? {
        let ends = text.split(separator: "-", omittingEmptySubsequences: false).map { number($0) }
        guard let first = ends[0], let last = ends.count == 1 ? first : ends[1], ends.count <= 2, first <= last else {
            return nil
        }
        return first...last
    }

    /// Parses a status of exactly three digits (RFC 9110 §15).
    private static func number(_ text: Substring) -> Int32? {
        guard text.utf8.count == 3, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int32(text)
    }

    /// True for "type/subtype" or "type/*" (RFC 9110 §8.3.1).
    private static func isType(_ text: String) -> Bool {
        let halves = text.split(separator: "/", omittingEmptySubsequences: false)
        guard halves.count == 2, halves[0] != "*" else { return false }
        return halves.allSatisfy { half in
            !half.isEmpty && half.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: ";") }
        }
    }
}
