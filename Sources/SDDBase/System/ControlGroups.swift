/// The directories with the files of the control groups that a process belongs to, derived from the text of its
/// /proc/self/cgroup: see cgroups(7). A value type.
struct ControlGroups {
    struct Folder {
        let path: String
        /// Names of files that contain a limit in bytes.
        let limits: [String]
        /// True for version 2 of control groups, which also reports memory pressure.
        let isUnified: Bool
    }

    /// The directories from the innermost group outwards. Some may not exist: in a container the path is often that of
    /// the machine, while the mounted tree begins at the container's own group. For that reason the root is included.
    let folders: [Folder]

    init(text: String) {
        var folders: [Folder] = []
        for line in text.split(separator: "\n") {
            // Examples: "0::/user.slice/a.service", "4:memory:/docker/123". A path may contain colons.
            let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3 else { continue }
            let isUnified = parts[0] == "0" && parts[1].isEmpty
            guard isUnified || parts[1].split(separator: ",").contains("memory") else { continue }
            for root in isUnified ? ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"] : ["/sys/fs/cgroup/memory"] {
                folders += Self.paths(to: parts[2]).map {
                    // A group over `memory.high` is throttled until it hardly makes progress.
                    let limits = isUnified ? ["memory.max", "memory.high"] : ["memory.limit_in_bytes"]
                    return Folder(path: root + $0, limits: limits, isUnified: isUnified)
                }
            }
        }
        self.folders = folders
    }

    /// Returns "/a/b", "/a" and "" for "/a/b". A path that leads out of the mounted tree has only the root.
    private static func paths(to group: Substring) -> [String] {
        let names = group.split(separator: "/")
        guard !names.contains("..") else { return [""] }
        // The limit of 64 levels is deeper than any real group.
        return (0...min(names.count, 64)).reversed().map { names[..<$0].map { "/" + $0 }.joined() }
    }
}
