/// A few doubly linked rings of slots; each slot is in one ring or in none. Appending, taking the first and removing
/// any slot take constant time and allocate nothing except for a new slot. A value type; see `LRUStore`.
struct SlotRings {
    private struct Node {
        var previous: Int
        var next: Int
    }

    /// The heads of the rings, followed by a node for each slot. A head closes its ring, so that the ends need no
    /// special case.
    private var nodes: ContiguousArray<Node>
    private let ringCount: Int

    init(count: Int) {
        ringCount = count
        nodes = ContiguousArray((0..<count).map { Node(previous: $0, next: $0) })
    }

    /// Returns the slot that was added to the ring first.
    func first(of ring: Int) -> Int? {
        let node = nodes[ring].next
        return node == ring ? nil : node - ringCount
    }

    /// Adds a slot that is in no ring yet.
    mutating func append(_ slot: Int, to ring: Int) {
        let node = slot + ringCount
        if node == nodes.count { nodes.append(Node(previous: node, next: node)) }
        let last = nodes[ring].previous
        nodes[node] = Node(previous: last, next: ring)
        nodes[last].next = node
        nodes[ring].previous = node
    }

    mutating func remove(_ slot: Int) {
        let node = nodes[slot + ringCount]
        nodes[node.previous].next = node.next
        nodes[node.next].previous = node.previous
    }

    mutating func move(_ slot: Int, to ring: Int) {
        remove(slot)
        append(slot, to: ring)
    }
}
