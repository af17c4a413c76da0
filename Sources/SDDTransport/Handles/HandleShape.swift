import SDDBase

/// What the options of a plain request's handle depend on, besides the downloader's configuration: see `KeptHandles`.
struct HandleShape: Equatable {
    let scheme: ImageURL.Scheme
    let connectLimit: Int64
    let staysPacked: Bool
}
