internal import CSDD

/// A member of a vtable of the application that is NULL, or cannot be.
struct VtableFlaw: Error {
    let member: StaticString
}

extension Refusal {
    init(_ flaw: VtableFlaw, in table: Place) {
        self.init(SDD_ERROR_INVALID_ARGUMENT, table.field(flaw.member), "it is NULL, or cannot be")
    }
}
