public import Glibc

/// A value, and a text behind it, in one block of memory without a count of references. For what there may be a hundred
/// thousand of, each with one owner, who passes it on or frees it.
public struct TextBlock<Header>: @unchecked Sendable {
    // Safety: its owner alone reads and changes the block.
    @usableFromInline let place: UnsafeMutablePointer<Header>

    /// - Returns: nil if there is no memory.
    @inlinable public init?(_ header: Header, _ text: UnsafeBufferPointer<UInt8>) {
        let size = MemoryLayout<Header>.size
        guard let block = malloc(size + text.count + 1) else { return nil }
        place = block.bindMemory(to: Header.self, capacity: 1)
        place.initialize(to: header)
        if let start = text.baseAddress { (block + size).copyMemory(from: start, byteCount: text.count) }
        block.storeBytes(of: 0, toByteOffset: size + text.count, as: UInt8.self)
    }

    @inlinable public var header: Header {
        _read { yield place.pointee }
        nonmutating _modify { yield &place.pointee }
    }

    @inlinable public var text: BlockText {
        BlockText(block: UnsafeMutableRawPointer(place), offset: MemoryLayout<Header>.size)
    }

    /// Moves the value out. Only the text is left, and is what is freed.
    @inlinable public func takeHeader() -> Header { place.move() }

    /// Frees value and text.
    @inlinable public func free() {
        place.deinitialize(count: 1)
        text.free()
    }
}

/// The text of a `TextBlock`: the bytes that it was given, with a NUL behind them. One owner, as there.
public struct BlockText: @unchecked Sendable {
    // Safety: nobody changes the text, and its owner frees it.
    @usableFromInline let block: UnsafeMutableRawPointer
    @usableFromInline let offset: Int

    @inlinable init(block: UnsafeMutableRawPointer, offset: Int) { (self.block, self.offset) = (block, offset) }

    /// - Returns: nil if there is no memory.
    @inlinable public init?(copying text: UnsafePointer<CChar>) {
        guard let copy = strdup(text) else { return nil }
        self.init(block: UnsafeMutableRawPointer(copy), offset: 0)
    }

    /// Valid until `free`.
    @inlinable public var pointer: UnsafePointer<CChar> {
        UnsafeRawPointer(block + offset).assumingMemoryBound(to: CChar.self)
    }

    /// Calls `body` with the bytes before the NUL.
    @inlinable public func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        let start = UnsafeRawPointer(block + offset).assumingMemoryBound(to: UInt8.self)
        return body(UnsafeBufferPointer(start: start, count: strlen(pointer)))
    }

    @inlinable public func free() { Glibc.free(block) }
}
