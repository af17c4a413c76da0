/// Returns a text that C code may keep forever: it is a constant of the library and never freed.
func staticText(_ text: StaticString) -> UnsafePointer<CChar>? {
    // Safety: a StaticString of more than one scalar has a pointer to constant bytes that end with NUL.
    UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self)
}

var emptyString: UnsafePointer<CChar>? { staticText("") }
