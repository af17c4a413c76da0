package import SDDBase

/// What 206 responses have brought of one body (RFC 9111 §3.3), as the record of an entry whose body is these parts,
/// one after the other. A value type.
package struct StoredParts: Sendable {
    /// The response as an incomplete 200, without the fields that describe one part.
    package var response: StoredResponse
    /// The size of the whole body; nil if no response has told it.
    package var total: Int64?
    /// The positions in the whole body, in order. They neither overlap nor touch, and are never empty.
    package internal(set) var pieces: [Range<Int64>]
    /// The latest Range that was answered, and what came, which may be less than was asked for (RFC 9110 §15.3.7): the
    /// same request gets the same answer.
    let asked: String
    let answer: Range<Int64>

    /// Most pieces of one body, and their most bytes. Each new part writes the entry anew.
    private static let mostPieces = 64
    private static let mostBytes: Int64 = 16 << 20

    /// The size of the entry's body. It does not overflow, since the pieces do not overlap.
    package var byteCount: Int64 { pieces.reduce(0) { $0 + Int64($1.count) } }

    /// True if nothing of the body is missing.
    package var isWhole: Bool { total.map { pieces == [0..<$0] } ?? false }

    /// Returns what to serve for a range; nil unless all of it is here (RFC 9111 §3.3).
    package func served(_ wish: RangeWish) -> ServedRange? {
        let isRepeated = wish.text.utf8.elementsEqual(asked.utf8) && wish.allows(answer, of: total)
        guard let range = isRepeated ? answer : wish.positions(in: total), place(of: range) != nil else { return nil }
        return ServedRange(bounds: range, total: total)
    }

    /// Returns where the entry's body has these positions; nil unless it has all of them.
    package func place(of range: Range<Int64>) -> Range<Int>? {
        var start: Int64 = 0
        for piece in pieces {
            if piece.lowerBound <= range.lowerBound, range.upperBound <= piece.upperBound {
                let first = Int(start + range.lowerBound - piece.lowerBound)
                return first..<(first + range.count)
            }
            start += Int64(piece.count)
        }
        return nil
    }
}

// MARK: - Joining

extension StoredParts {
    /// A stretch of the entry that two make together.
    package struct Stretch: Equatable, Sendable {
        package let isNew: Bool
        /// The bytes in the new or in the old entry.
        package let bytes: Range<Int>
    }

    /// Returns these parts together with a newer one of the same body, and of which bytes their entry consists.
    /// - Parameter response: the stored response, updated with the fields of the newer.
    /// - Returns: nil if their sizes differ, or there would be too many.
    func joined(with new: StoredParts, as response: StoredResponse) -> (StoredParts, [Stretch])? {
        guard new.pieces.count == 1, (total ?? new.total) == (new.total ?? total) else { return nil }
        let added = new.pieces[0]
        var all = [(added, Stretch(isNew: true, bytes: 0..<added.count))]
        for piece in pieces {
            for left in [piece.clamped(to: .min..<added.lowerBound), piece.clamped(to: added.upperBound..<(.max))] {
                guard !left.isEmpty, let bytes = place(of: left) else { continue }
                all.append((left, Stretch(isNew: false, bytes: bytes)))
            }
        }
        all.sort { $0.0.lowerBound < $1.0.lowerBound }
        let joined = StoredParts(
            response: response, total: total ?? new.total, pieces: Self.touching(all.map { $0.0 }), asked: new.asked,
            answer: new.answer)
        guard joined.isSound, joined.pieces.count <= Self.mostPieces, joined.byteCount <= Self.mostBytes else {
            return nil
        }
        return (joined, all.map { $0.1 })
    }

    /// Makes one of those that touch.
    private static func touching(_ pieces: [Range<Int64>]) -> [Range<Int64>] {
        pieces.reduce(into: []) { joined, piece in
            if let last = joined.last, last.upperBound == piece.lowerBound {
                joined[joined.count - 1] = last.lowerBound..<piece.upperBound
            } else {
                joined.append(piece)
            }
        }
    }

    /// Whether the numbers are as they must be. Those of a file may be any.
    var isSound: Bool {
        var end: Int64 = -1
        for piece in pieces {
            guard piece.lowerBound > end, !piece.isEmpty else { return false }
            end = piece.upperBound
        }
        return !pieces.isEmpty && answer.lowerBound >= 0 && end <= total ?? .max
    }
}
