/// A few doubly linked rings of slots, each slot in one of them or in none: adding at the end, taking the first and
/// removing any cost the same, however many there are, and allocate nothing but for a slot that is new. A value; see
/// `LRUStore`.
struct SlotRings {
    private struct Node {
        var previous: Int
        var next: Int
    }

    /// The rings' heads first, then a node for each slot: a head closes its ring, so that no end is a special case.
    private var nodes: ContiguousArray<Node>
    private let ringCount: Int

    init(count: Int) {
        ringCount = count
        nodes = ContiguousArray((0..<count).map { Node(previous: $0, next: $0) })
    }

    /// Of the slots in the ring, the one that was added first.
    func first(of ring: Int) -> Int? {
        let node = nodes[ring].next
        return node == ring ? nil : node - ringCount
    }

    /// In no ring so far.
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
