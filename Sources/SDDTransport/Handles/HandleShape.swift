import SDDBase

/// The options of a plain request's handle depend on these three, and on the downloader's configuration: `KeptHandles`.
struct HandleShape: Equatable {
    let scheme: ImageURL.Scheme
    let connectLimit: Int64
    let staysPacked: Bool
}
