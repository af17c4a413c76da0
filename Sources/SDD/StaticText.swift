/// Text that C may keep for ever. Never freed: it is in the library's own constants.
func staticText(_ text: StaticString) -> UnsafePointer<CChar>? {
    // Safety: a StaticString of more than one scalar has a pointer to constant bytes that end with NUL.
    UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self)
}

var emptyString: UnsafePointer<CChar>? { staticText("") }
