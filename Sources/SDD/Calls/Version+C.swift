internal import CSDD

@_cdecl("sdd_version") @implementation
public func sdd_version() -> UInt32 {
    UInt32(SDD_VERSION_MAJOR * 1_000_000 + SDD_VERSION_MINOR * 1000 + SDD_VERSION_PATCH)
}

@_cdecl("sdd_version_string") @implementation
public func sdd_version_string() -> UnsafePointer<CChar>? {
    staticText(version)
}

/// The value of the header's SDD_VERSION_STRING, which Swift imports as a String without a stable address.
let version: StaticString = "0.3.0"
