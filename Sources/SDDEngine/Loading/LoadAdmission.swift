/// The outcome of submitting a load.
enum LoadAdmission {
    case accepted
    /// The downloader accepts no more requests; the load's end reports that.
    case refused
    /// The downloader is being destroyed, and delivers no events of the load.
    case nobody
}
