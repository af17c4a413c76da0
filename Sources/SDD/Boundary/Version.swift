/// The value of the header's SDD_VERSION_STRING, which Swift imports as a String without a stable address.
let version: StaticString = "0.4.0"
