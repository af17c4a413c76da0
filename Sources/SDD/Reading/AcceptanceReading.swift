internal import CSDD
internal import SDDEngine

/// Reads the accepted status codes and content types.
/// - Parameter standard: the values to use for NULL.
func readAcceptance(
    statuses: UnsafePointer<CChar>?, _ statusPlace: Place, types: UnsafePointer<CChar>?, _ typePlace: Place,
    standard: Acceptance
) throws(Refusal) -> Acceptance {
    let (statuses, types) = (try text(statuses, statusPlace), try text(types, typePlace))
    if let made = Acceptance(statuses: statuses, types: types, standard: standard) { return made }
    if let part = statuses.flatMap({ Acceptance.wrongStatus(in: $0) }) {
        throw Refusal(
            SDD_ERROR_INVALID_ARGUMENT, statusPlace,
            "\(shown(part)) is not a number or a range of three digits, as in \"200-299,304\", or \"*\" for all")
    }
    let part = types.flatMap { Acceptance.wrongType(in: $0) } ?? ""
    throw Refusal(
        SDD_ERROR_INVALID_ARGUMENT, typePlace,
        "\(shown(part)) is not a media type, as in \"image/*,text/plain\", or \"*\" for all")
}
