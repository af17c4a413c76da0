/// Distinct forms in the order in which they were added, with a lookup whose cost does not grow with their number. A
/// value.
package struct FormIndex {
    package private(set) var forms: [DecodeOptions] = []
    /// Positions by form; empty while there are few forms, since comparing those is faster than hashing one.
    private var positions: [DecodeOptions: Int] = [:]

    private static let few = 8

    package init() {}

    package init(_ forms: [DecodeOptions]) {
        // Mostly there is one.
        if forms.count == 1 { self.forms = forms } else { for form in forms { add(form) } }
    }

    /// Adds a form, unless it is there already.
    package mutating func add(_ form: DecodeOptions) {
        guard position(of: form) == nil else { return }
        forms.append(form)
        if forms.count == Self.few + 1 {
            for (position, form) in forms.enumerated() { positions[form] = position }
        } else if forms.count > Self.few {
            positions[form] = forms.count - 1
        }
    }

    package func position(of form: DecodeOptions) -> Int? {
        forms.count <= Self.few ? forms.firstIndex(of: form) : positions[form]
    }
}
