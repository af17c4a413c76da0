/// Different forms in the order in which they were added. Whether a form is among them costs the same for a few and for
/// very many. A value.
package struct FormIndex {
    package private(set) var forms: [PixelForm] = []
    /// Empty while there are few forms: to compare those is quicker than to hash one.
    private var positions: [PixelForm: Int] = [:]

    private static let few = 8

    package init() {}

    package init(_ forms: some Sequence<PixelForm>) {
        for form in forms { add(form) }
    }

    /// Does nothing where the form is there already.
    package mutating func add(_ form: PixelForm) {
        guard position(of: form) == nil else { return }
        forms.append(form)
        if forms.count == Self.few + 1 {
            for (position, form) in forms.enumerated() { positions[form] = position }
        } else if forms.count > Self.few {
            positions[form] = forms.count - 1
        }
    }

    package func position(of form: PixelForm) -> Int? {
        forms.count <= Self.few ? forms.firstIndex(of: form) : positions[form]
    }
}
