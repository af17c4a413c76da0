# Unpacks the released library, since vcpkg has no Swift compiler: vcpkg.json beside this file says where it goes.
# The library needs libcurl.so.4, libjpeg.so.62 and libpng16.so.16 of the system, and glibc 2.36 or later.
# packaging/set-release.sh fills in the checksums.
set(releases "https://example.org/libsdd/releases")
if(VCPKG_TARGET_ARCHITECTURE STREQUAL "x64")
    set(machine "x86_64")
    # set-release.sh: sha512 x86_64
    set(sum "00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000")
else()
    set(machine "aarch64")
    # set-release.sh: sha512 aarch64
    set(sum "00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000")
endif()

vcpkg_check_linkage(ONLY_DYNAMIC_LIBRARY)
vcpkg_download_distfile(archive
    URLS "${releases}/libsdd-${VERSION}-linux-${machine}.tar.gz"
    FILENAME "libsdd-${VERSION}-linux-${machine}.tar.gz"
    SHA512 "${sum}")
vcpkg_extract_source_archive(tree ARCHIVE "${archive}")

file(INSTALL "${tree}/include" "${tree}/lib" DESTINATION "${CURRENT_PACKAGES_DIR}" USE_SOURCE_PERMISSIONS)
vcpkg_install_copyright(FILE_LIST "${tree}/share/doc/libsdd/copyright")

# vcpkg looks for CMake packages in share/. The files of the release find the library from their own place, so that they
# stay where they are.
foreach(name IN ITEMS sdd-config sdd-config-version)
    file(WRITE "${CURRENT_PACKAGES_DIR}/share/sdd/${name}.cmake"
        "include(\"\${CMAKE_CURRENT_LIST_DIR}/../../lib/cmake/sdd/${name}.cmake\")\n")
endforeach()
set(VCPKG_POLICY_SKIP_MISPLACED_CMAKE_FILES_CHECK enabled)
set(VCPKG_POLICY_SKIP_LIB_CMAKE_MERGE_CHECK enabled)

# The release has one library, for both configurations.
set(VCPKG_POLICY_MISMATCHED_NUMBER_OF_BINARIES enabled)
