/// Where the files of the control groups lie that a process is in, by the text of its /proc/self/cgroup: see
/// cgroups(7). A value.
struct ControlGroups {
    struct Folder {
        let path: String
        /// Files with a number of bytes.
        let limits: [String]
        /// Of the second version, which tells of pressure too.
        let isUnified: Bool
    }

    /// From the innermost group outwards. Some may not exist: in a container a path is often one of the machine's, while
    /// what is mounted begins at the container's own group; so the root is among them.
    let folders: [Folder]

    init(text: String) {
        var folders: [Folder] = []
        for line in text.split(separator: "\n") {
            // "0::/user.slice/a.service", "4:memory:/docker/123"; a path may have colons.
            let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3 else { continue }
            let isUnified = parts[0] == "0" && parts[1].isEmpty
            guard isUnified || parts[1].split(separator: ",").contains("memory") else { continue }
            for root in isUnified ? ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"] : ["/sys/fs/cgroup/memory"] {
                folders += Self.paths(to: parts[2]).map {
                    // Over `high` a group is slowed down until it hardly moves.
                    let limits = isUnified ? ["memory.max", "memory.high"] : ["memory.limit_in_bytes"]
                    return Folder(path: root + $0, limits: limits, isUnified: isUnified)
                }
            }
        }
        self.folders = folders
    }

    /// "/a/b", "/a", "" for "/a/b". What leads out of what is mounted is not there.
    private static func paths(to group: Substring) -> [String] {
        let names = group.split(separator: "/")
        guard !names.contains("..") else { return [""] }
        // Groups are not so deep.
        return (0...min(names.count, 64)).reversed().map { names[..<$0].map { "/" + $0 }.joined() }
    }
}
