internal import CSDD

@_cdecl("sdd_version") @implementation
public func sdd_version() -> UInt32 {
    UInt32(SDD_VERSION_MAJOR * 1_000_000 + SDD_VERSION_MINOR * 1000 + SDD_VERSION_PATCH)
}

@_cdecl("sdd_version_string") @implementation
public func sdd_version_string() -> UnsafePointer<CChar>? {
    staticText(version)
}
