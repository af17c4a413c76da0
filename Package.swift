// swift-tools-version: 6.2
// Targets and flags. `make` builds the library; `swift test` runs the tests of the Swift targets.
import Glibc
import PackageDescription

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    // Checked in debug builds, which all tests run: in the library that is shipped, each check of a class's property
    // costs more than the access, and a failed one would end the host's process.
    .unsafeFlags(["-enforce-exclusivity=unchecked"], .when(configuration: .release)),
    // The library is to be small: nobody looks into types by Mirror, and the linker finds functions that nobody calls.
    // Without the last flag it would keep all that another target could call.
    .unsafeFlags(
        [
            "-Xfrontend", "-disable-reflection-metadata", "-Xfrontend", "-function-sections",
            "-Xfrontend", "-internalize-at-link",
        ],
        .when(configuration: .release)),
    // Structs are copied by code of their own, not by functions of the runtime that look up how; and generic code is
    // specialised across targets: docs/decisions/0036-code-that-copies-structs-itself.md.
    .unsafeFlags(
        [
            "-cross-module-optimization", "-Xfrontend", "-disable-type-layout",
            "-Xfrontend", "-disable-llvm-merge-functions-pass",
        ],
        .when(configuration: .release)),
    // Two builds in different folders give the same bytes: docs/packaging.md. Names of files in the debug information
    // are relative to the package; it names no Clang modules, whose numbers depend on the folder of their cache; and
    // there is no .swift_modhash, which the compiler would only use to skip work in the next build of the same folder.
    .unsafeFlags(
        [
            "-file-prefix-map", "\(Context.packageDirectory)=.", "-file-compilation-dir", ".",
            "-Xfrontend", "-no-clang-module-breadcrumbs", "-Xfrontend", "-disable-incremental-llvm-codegen",
        ],
        .when(configuration: .release)),
]

/// Before Swift 6.3, @implementation of functions in C is an experimental feature:
/// docs/decisions/0043-one-source-for-swift-6-2-and-6-3.md. The main program that SwiftPM writes for the tests asks for
/// lib_Testing_Foundation, which it does not use, and which Debian's swiftlang lacks.
#if compiler(<6.3)
    let implementsHeader: [SwiftSetting] = [.enableExperimentalFeature("CImplementation")]
    let absentLibraries: [LinkerSetting] = [.unsafeFlags(["-L\(Context.packageDirectory)/Tests/Absent"])]
#else
    let implementsHeader: [SwiftSetting] = []
    let absentLibraries: [LinkerSetting] = []
#endif

/// Names of files in the debug information of C code are relative to the package, also in debug builds. Release builds
/// are hardened as Debian's packages are. These are flags of the C targets, not of the command line, since those reach
/// Swift's import of glibc as well: with _FORTIFY_SOURCE, glibc 2.41 declares its functions in forms that Swift cannot
/// tell apart.
let cFlags: [CSetting] = [
    .unsafeFlags(["-ffile-prefix-map=\(Context.packageDirectory)=."]),
    .unsafeFlags(["-fstack-protector-strong"], .when(configuration: .release)),
    .define("_FORTIFY_SOURCE", to: "2", .when(configuration: .release)),
]

/// Half a megabyte of relocations becomes a list of some kilobytes, which libraries of C read since glibc 2.36.
let packsRelocations: Bool = {
    var text = [CChar](repeating: 0, count: 64)
    confstr(Int32(_CS_GNU_LIBC_VERSION), &text, text.count)
    // For instance "glibc 2.36".
    let words = String(decoding: text.prefix { $0 != 0 }.map { UInt8(truncatingIfNeeded: $0) }, as: UTF8.self)
    let version = words.split { $0 == " " || $0 == "." }.compactMap { Int($0) }
    return !version.lexicographicallyPrecedes([2, 36])
}()

/// What makes libsdd.so a C library: the Swift runtime inside, `sdd_*` and no other symbol outside, never unloaded.
/// On the façade alone, so that test bundles, which import only the core, are linked as usual.
let sharedObject: [LinkerSetting] = [
    .unsafeFlags([
        "-static-stdlib", "-use-ld=lld",
        "-no-toolchain-stdlib-rpath",
        "-Xlinker", "--version-script=\(Context.packageDirectory)/Sources/SDD/sdd.map",
        "-Xlinker", "\(Context.packageDirectory)/Sources/SDD/sdd.ld",
        "-Xlinker", "-soname=libsdd.so.0",
        "-Xlinker", "--gc-sections",
        // Functions that are the same are one: nobody compares their addresses.
        "-Xlinker", "-O2", "-Xlinker", "--icf=all",
        "-Xlinker", "-z", "-Xlinker", "nodelete",
        "-Xlinker", "-z", "-Xlinker", "now",
        "-Xlinker", "-z", "-Xlinker", "relro",
        "-Xlinker", "--build-id=sha1",
        "-Xlinker", "-z", "-Xlinker", packsRelocations ? "pack-relative-relocs" : "nopack-relative-relocs",
        // A fork breaks neither the runtime's globals nor its locks: Sources/CFork/runtime.c.
        "-Xlinker", "--wrap=_ZN5swift14threading_impl9once_slowERNS0_6once_tEPFvPvES3_",
        "-Xlinker", "--wrap=pthread_mutex_lock", "-Xlinker", "--wrap=pthread_mutex_unlock",
        "-Xlinker", "--wrap=__cxa_guard_acquire", "-Xlinker", "--wrap=__cxa_guard_release",
        // Freed memory is cached: Sources/CHeap/heap.c.
        "-Xlinker", "--wrap=malloc", "-Xlinker", "--wrap=calloc", "-Xlinker", "--wrap=realloc",
        "-Xlinker", "--wrap=posix_memalign", "-Xlinker", "--wrap=strdup", "-Xlinker", "--wrap=free",
        // Half a megabyte of names that nothing asks for.
        "-Xlinker", "--wrap=_swift_stdlib_getScalarName",
    ])
]

let package = Package(
    name: "libsdd",
    products: [
        .library(name: "sdd", type: .dynamic, targets: ["SDD"])
    ],
    targets: [
        // The C libraries of the system, and the header of our own as a module.
        .systemLibrary(
            name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(
            name: "CLibJPEG", pkgConfig: "libjpeg",
            providers: [.apt(["libjpeg62-turbo-dev", "libjpeg-turbo8-dev"])]),
        .systemLibrary(name: "CLibPNG", pkgConfig: "libpng", providers: [.apt(["libpng-dev"])]),
        // Only declarations: its functions are those that libpng and libcurl bring into the process.
        .systemLibrary(name: "CLibZ", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CSDD", path: "include"),

        // The setjmp shims: libjpeg and libpng leave an error by longjmp, which must not cross Swift.
        .target(name: "CJPEG", dependencies: ["CLibJPEG"], cSettings: cFlags + [.unsafeFlags(["-O3"])]),
        .target(name: "CPNG", dependencies: ["CLibPNG"], cSettings: cFlags + [.unsafeFlags(["-O3"])]),

        // System calls that Swift's Glibc module lacks, and the lock of the library's own mutexes.
        .target(name: "CSystem", exclude: ["work_clock.h"], cSettings: cFlags),

        // What runs at a fork, known to the system as soon as the library is loaded.
        .target(name: "CFork", dependencies: ["CSystem"], cSettings: cFlags),

        // A cache of freed memory, for the library and for libcurl.
        .target(name: "CHeap", cSettings: cFlags),

        // Processes that decode apart from the application, and their sandbox.
        .target(name: "CHelper", dependencies: ["CSystem"], cSettings: cFlags),

        .target(name: "SDDBase", dependencies: ["CSystem"], swiftSettings: strict),
        .target(name: "SDDCoders", dependencies: ["SDDBase", "CHelper", "CJPEG", "CPNG"], swiftSettings: strict),
        .target(name: "SDDTransport", dependencies: ["SDDBase", "CCurl", "CLibZ", "CSystem"], swiftSettings: strict),
        .target(
            name: "SDDCaches", dependencies: ["SDDBase", "CSystem"], swiftSettings: strict),
        .target(
            name: "SDDEngine", dependencies: ["SDDBase", "SDDCoders", "SDDTransport", "SDDCaches"],
            swiftSettings: strict + [.strictMemorySafety()]),
        .target(
            name: "SDD",
            dependencies: [
                "SDDBase", "SDDCoders", "SDDTransport", "SDDCaches", "SDDEngine", "CFork", "CHeap", "CHelper", "CSDD",
                "CSystem",
            ],
            exclude: ["sdd.ld", "sdd.map"], swiftSettings: strict + implementsHeader, linkerSettings: sharedObject),

        // Tests.
        .target(
            name: "TestSupport", dependencies: ["SDDBase"], path: "Tests/TestSupport", swiftSettings: strict,
            linkerSettings: absentLibraries + [.unsafeFlags(["-use-ld=lld"])]),
        .executableTarget(
            name: "fault-server", dependencies: ["TestSupport"], path: "Tests/FaultServer", exclude: ["README.md"],
            swiftSettings: strict),
        .testTarget(name: "SDDBaseTests", dependencies: ["SDDBase", "TestSupport"], swiftSettings: strict),
        .testTarget(
            name: "SDDCodersTests", dependencies: ["SDDBase", "SDDCoders", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "SDDTransportTests", dependencies: ["SDDBase", "SDDTransport", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "SDDCachesTests", dependencies: ["SDDBase", "SDDCaches", "TestSupport"], swiftSettings: strict),
        .testTarget(
            name: "SDDEngineTests",
            dependencies: ["SDDBase", "SDDCoders", "SDDTransport", "SDDCaches", "SDDEngine", "TestSupport"],
            swiftSettings: strict),

        // SDDFuzz is what libFuzzer calls. Each debug build compiles it, so that it follows the sources.
        .target(
            name: "SDDFuzz", dependencies: ["SDDBase", "SDDCoders", "SDDTransport", "SDDCaches", "SDDEngine"],
            path: "Tests/Fuzz/Targets", swiftSettings: strict),
    ]
)

// `make fuzz` builds it with sanitizers, as a library of its own.
if Context.environment["SDD_FUZZ"] != nil {
    package.products.append(.library(name: "sdd-fuzz", type: .dynamic, targets: ["SDDFuzz"]))
}

// `make sanitize` builds some of the tests.
if let names = Context.environment["SDD_TESTS"], !names.isEmpty {
    let wanted = Set(names.split(separator: ",").map(String.init))
    package.targets.removeAll { $0.type == .test && !wanted.contains($0.name) }
}
