import Glibc
import TestSupport
import Testing

@testable import SDDBase

@Suite struct MachineMemoryTests {
    /// 16,307,416 KiB, as in proc_meminfo(5).
    private let meminfo = "MemTotal:       16307416 kB\nMemFree:         1000000 kB\n"
    private let machine = 16_698_793_984

    private func limit(_ files: [String: String], fallback: Int = 1) -> Int {
        MachineMemory(reader: { files[$0] }, fallback: fallback).limit
    }

    @Test func isTheMachinesMemoryUnlessAGroupLimitsIt() {
        #expect(limit(["/proc/meminfo": meminfo]) == machine)
        #expect(limit(["/proc/meminfo": meminfo, "/proc/self/cgroup": "0::/\n"]) == machine)
    }

    @Test func isTheLimitOfTheInnermostGroup() {
        // given
        let files = [
            "/proc/meminfo": meminfo, "/proc/self/cgroup": "0::/user.slice/app.service\n",
            "/sys/fs/cgroup/user.slice/app.service/memory.max": "134217728\n",
            "/sys/fs/cgroup/user.slice/memory.max": "max\n",
        ]
        // then
        #expect(limit(files) == 134_217_728)
    }

    @Test func isTheLimitOfAParentGroupIfLower() {
        // given
        let files = [
            "/proc/meminfo": meminfo, "/proc/self/cgroup": "0::/a/b/c\n",
            "/sys/fs/cgroup/a/b/c/memory.max": "300000000\n", "/sys/fs/cgroup/a/b/memory.max": "200000000\n",
            "/sys/fs/cgroup/a/memory.max": "max\n",
        ]
        // then
        #expect(limit(files) == 200_000_000)
    }

    @Test func isTheHighMarkOfAGroupIfLower() {
        // given
        let files = [
            "/proc/meminfo": meminfo, "/proc/self/cgroup": "0::/a\n", "/sys/fs/cgroup/a/memory.max": "300000000\n",
            "/sys/fs/cgroup/a/memory.high": "250000000\n",
        ]
        // then
        #expect(limit(files) == 250_000_000)
    }

    /// The path is as the machine sees it, but the mounted tree begins at the group of the container.
    @Test func isTheLimitOfTheContainerIfItsPathIsNotMounted() {
        // given
        var files = [
            "/proc/meminfo": meminfo, "/proc/self/cgroup": "5:devices:/x\n4:cpu,memory:/docker/1f:2\n0::/\n",
            "/sys/fs/cgroup/memory/memory.limit_in_bytes": "134217728\n",
        ]
        #expect(limit(files) == 134_217_728)
        // when: a group of cgroup v1 with a colon in its name
        files["/sys/fs/cgroup/memory/docker/1f:2/memory.limit_in_bytes"] = "67108864\n"
        // then
        #expect(limit(files) == 67_108_864)
    }

    @Test func theHugeNumberOfCgroupV1MeansNoLimit() {
        // given
        let files = [
            "/proc/meminfo": meminfo, "/proc/self/cgroup": "4:memory:/\n",
            "/sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
        ]
        // then
        #expect(limit(files) == machine)
    }

    @Test func doesNotLeaveTheMountedTree() {
        // given: a process of another namespace
        let files = [
            "/proc/meminfo": meminfo, "/proc/self/cgroup": "0::/../other\n",
            "/sys/fs/cgroup/../other/memory.max": "1000\n", "/sys/fs/cgroup/memory.max": "150000000\n",
        ]
        // then
        #expect(limit(files) == 150_000_000)
    }

    @Test(arguments: [
        "", "MemTotal:", "MemTotal: kB\n", "MemTotal: 0 kB\n", "MemTotal: 9223372036854775807 kB\n",
        "MemTotal: 99999999999999999999 kB\n", "MemFree: 5 kB\n", "\u{fffd}\n",
    ])
    func fallsBackToADefaultIfTheKernelDoesNotSay(meminfo: String) {
        #expect(limit(["/proc/meminfo": meminfo], fallback: 1 << 30) == 1 << 30)
    }

    @Test(arguments: ["", "\n", ":", "::", "0:", "0::", "0::/a/b", "x:memory:/a", "4:memory", "4:memory:\n\n"])
    func damagedGroupsSetNoLimit(groups: String) {
        #expect(limit(["/proc/meminfo": meminfo, "/proc/self/cgroup": groups]) == machine)
    }

    @Test(arguments: ["max", "", "-1", "99999999999999999999", "abc"])
    func textThatIsNotANumberIsNoLimit(text: String) {
        // given
        let files = ["/proc/meminfo": meminfo, "/proc/self/cgroup": "0::/a\n", "/sys/fs/cgroup/a/memory.max": text]
        // then
        #expect(limit(files) == machine)
    }

    @Test func aVeryDeepGroupIsNotFollowed() {
        // given
        let deep = String(repeating: "/a", count: 20_000)
        let files = [
            "/proc/meminfo": meminfo, "/proc/self/cgroup": "0::\(deep)\n", "/sys/fs/cgroup/a/memory.max": "150000000\n",
        ]
        // then: only the groups above it count
        #expect(limit(files) == 150_000_000)
    }

    @Test func isNoMoreThanThisMachineHas() {
        #expect(MachineMemory.limit > 0)
        #expect(MachineMemory.limit <= sysconf(Int32(_SC_PHYS_PAGES)) * sysconf(Int32(_SC_PAGESIZE)))
    }

    @Test func readsSmallFilesAndTheStartOfLargeOnes() throws {
        // given
        let folder = try TemporaryFolder()
        let file = try folder.write("file", "some text\n")
        let large = try folder.write("large", [UInt8](repeating: 65, count: 100_000))
        // then
        #expect(MachineMemory.smallFile(file) == "some text\n")
        #expect(MachineMemory.smallFile(large)?.utf8.count == 65_536)
        #expect(MachineMemory.smallFile(folder.path("none")) == nil)
        #expect(MachineMemory.smallFile(folder.path) == "")
    }
}
