internal import CSystem
internal import Glibc

/// Reports when memory gets short. A thread of its own, sdd-pressure, sleeps until the kernel's pressure stall
/// information signals an event; see Documentation/accounting/psi.rst of the kernel. The thread ends with the last
/// reference; after that the handler is not called any more, unless the handler itself released that reference.
package final class PressureWatch: Sendable {
    package typealias Handler = @Sendable (MemoryPressure) -> Void

    private let generation = ForkGeneration.current
    private let watched: Watched
    private let thread: NativeThread

    /// Watches the innermost control group that reports memory pressure, or the whole machine.
    /// - Parameter handler: called on the watch's thread, at most once in two seconds for each level.
    /// - Throws: the errno of the last file tried: ENOENT if the kernel does not report pressure, EACCES or EINVAL if
    ///   it does not report it to this process.
    package convenience init(handler: @escaping Handler) throws(SystemError) {
        try self.init(files: Self.files(), handler: handler)
    }

    convenience init(files: [String], handler: @escaping Handler) throws(SystemError) {
        var failure = SystemError(errno: ENOENT)
        for file in files {
            do throws(SystemError) {
                let moderate = try Trigger(Self.moderate, in: file)
                let critical = try Trigger(Self.critical, in: file)
                try self.init(triggers: [(moderate, .moderate), (critical, .critical)], handler: handler)
                return
            } catch {
                failure = error
            }
        }
        throw failure
    }

    /// - Parameter triggers: descriptors that report an urgent event (POLLPRI) under memory pressure.
    init(triggers: [(Trigger, MemoryPressure)], handler: @escaping Handler) throws(SystemError) {
        let watched = Watched(triggers, try EventBell(), handler)
        self.watched = watched
        thread = try NativeThread(name: "sdd-pressure") { watched.run() }
    }

    deinit {
        // The child of a fork does not have this thread, and the bell belongs to the parent.
        guard generation == ForkGeneration.current else { return }
        watched.bell.ring()
        if thread.isCurrent { thread.detach() } else { thread.join() }
    }

    // Microseconds that threads wait for memory within a window: any thread ("some"), or all threads at once ("full").
    // Without privileges a window must be a multiple of two seconds.
    private static let moderate = "some 300000 2000000"
    private static let critical = "full 200000 2000000"

    private static func files() -> [String] {
        let groups = ControlGroups(text: MachineMemory.smallFile("/proc/self/cgroup") ?? "").folders
        return groups.filter(\.isUnified).map { $0.path + "/memory.pressure" } + ["/proc/pressure/memory"]
    }

    /// A pressure threshold, which the kernel monitors as long as the descriptor is open.
    final class Trigger: Sendable {
        let descriptor: Int32

        /// Takes ownership of the descriptor and closes it with the last reference.
        init(adopting descriptor: Int32) { self.descriptor = descriptor }

        convenience init(_ threshold: String, in file: String) throws(SystemError) {
            let descriptor = open(file, O_RDWR | O_NONBLOCK | O_CLOEXEC)
            guard descriptor >= 0 else { throw SystemError(errno: errno) }
            self.init(adopting: descriptor)
            // The NUL at the end is written too, as in the kernel's own example.
            let bytes = Array(threshold.utf8CString)
            guard write(descriptor, bytes, bytes.count) == bytes.count else { throw SystemError(errno: errno) }
        }

        deinit { close(descriptor) }
    }
}

/// The state of the watch's thread, which may outlive the `PressureWatch`.
private final class Watched: Sendable {
    private let triggers: [(trigger: PressureWatch.Trigger, level: MemoryPressure)]
    private let handler: PressureWatch.Handler
    let bell: EventBell

    init(
        _ triggers: [(PressureWatch.Trigger, MemoryPressure)], _ bell: EventBell,
        _ handler: @escaping PressureWatch.Handler
    ) {
        self.triggers = triggers
        self.bell = bell
        self.handler = handler
    }

    // Runs on the thread sdd-pressure.
    func run() {
        var polled = [pollfd(fd: bell.descriptor, events: Int16(POLLIN), revents: 0)]
        polled += triggers.map { pollfd(fd: $0.trigger.descriptor, events: Int16(POLLPRI), revents: 0) }
        while true {
            let count = poll(&polled, nfds_t(polled.count), -1)
            if count < 0 && (errno == EINTR || errno == EAGAIN) { continue }
            guard count > 0, polled[0].revents == 0 else { return }
            for index in triggers.indices { handle(&polled[index + 1], triggers[index].level) }
        }
    }

    private func handle(_ polled: inout pollfd, _ level: MemoryPressure) {
        let events = Int32(polled.revents)
        if events & (POLLERR | POLLHUP | POLLNVAL) != 0 {
            // The control group no longer exists; poll(2) ignores a negative descriptor.
            polled.fd = -1
        } else if events & POLLPRI != 0 {
            handler(level)
        }
    }
}
