public import CSDD
internal import SDDBase
internal import SDDEngine
internal import SDDTransport

@_cdecl("sdd_downloader_set_observer") @implementation
public func sdd_downloader_set_observer(
    _ downloader: OpaquePointer?, _ observer: sdd_observer_fn?, _ userData: UnsafeMutableRawPointer?,
    _ free: sdd_user_data_free_fn?
) -> sdd_status {
    status { () throws(Refusal) in
        let downloader = try Downloaders.downloader(downloader)
        downloader.setObserver(observer.map { AppObserver($0, userData, free: free) })
    }
}

@_cdecl("sdd_downloader_set_log") @implementation
public func sdd_downloader_set_log(
    _ downloader: OpaquePointer?, _ level: Int32, _ observer: sdd_observer_fn?, _ userData: UnsafeMutableRawPointer?,
    _ free: sdd_user_data_free_fn?
) -> sdd_status {
    status { () throws(Refusal) in
        guard let known = LogLevel(rawValue: level) else {
            throw .number("level", level, allowed: "one of SDD_LOG_")
        }
        let downloader = try Downloaders.downloader(downloader)
        downloader.setLog(known, observer.map { AppObserver($0, userData, free: free) })
    }
}

/// The application's listener for notices. Thread: the one on which the downloader delivers.
final class AppObserver: Observer, @unchecked Sendable {
    // Safety: constants; the application's function is called on one thread at a time.
    private let function: sdd_observer_fn
    private let data: AppData
    var userData: UnsafeMutableRawPointer? { data.pointer }

    init(
        _ function: @escaping sdd_observer_fn, _ userData: UnsafeMutableRawPointer?, free: sdd_user_data_free_fn?
    ) {
        self.function = function
        data = AppData(userData, free: free)
        data.own()
    }

    func noticed(_ notice: Notice) {
        let lent = LentNotice(notice, for: self)
        withExtendedLifetime(lent) { function(lent.pointer, userData) }
    }
}

/// A notice in C form, freed with the last reference.
final class LentNotice {
    private let notice: Lent<sdd_notice>
    private let texts: (url: CText?, message: CText?)
    /// Kept alive because its `userData` is lent with the notice.
    private let observer: AppObserver

    init(_ source: Notice, for observer: AppObserver) {
        self.observer = observer
        texts = (source.url.map { CText($0) }, (source.message ?? source.error?.message).map { CText($0) })
        var made = sdd_notice()
        made.struct_size = MemoryLayout<sdd_notice>.size
        made.kind = source.kind.rawValue
        made.level = source.level.rawValue
        made.transfer = source.transfer
        made.token = source.token
        made.url = texts.url?.pointer
        made.time_us = source.time
        made.failure = sdd_failure(
            source.error, stage: source.stage, httpStatus: source.httpStatus, message: texts.message?.pointer)
        made.attempt = source.attempt
        made.delay_us = source.delay
        notice = Lent(made)
    }

    var pointer: UnsafePointer<sdd_notice> { notice.pointer }
}
