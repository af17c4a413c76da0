# Downloads the released library with FetchContent and makes the target sdd::sdd, which asks no Swift compiler of
# anybody. Copy this file to a program, and
#
#     find_package(sdd 0.4 QUIET)                  # the library of the system first
#     if(NOT sdd_FOUND)
#         include(cmake/libsdd.cmake)
#     endif()
#     target_link_libraries(program PRIVATE sdd::sdd)
#
# The library needs libcurl.so.4, libjpeg.so.62 and libpng16.so.16 of the system, and glibc 2.36 or later.
# packaging/set-release.sh fills in version and checksums.
include(FetchContent)
if(POLICY CMP0135)
    cmake_policy(SET CMP0135 NEW) # of this file alone: unpacked files are as new as their download
endif()

set(libsdd_version 0.4.0)
set(libsdd_releases "https://example.org/libsdd/releases")
if(CMAKE_SYSTEM_NAME STREQUAL "Linux" AND CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
    # set-release.sh: sha256 x86_64
    set(libsdd_sum 0000000000000000000000000000000000000000000000000000000000000000)
elseif(CMAKE_SYSTEM_NAME STREQUAL "Linux" AND CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
    # set-release.sh: sha256 aarch64
    set(libsdd_sum 0000000000000000000000000000000000000000000000000000000000000000)
else()
    message(FATAL_ERROR "libsdd is released for Linux on x86_64 and aarch64")
endif()

# The archive has no CMakeLists.txt: this unpacks it.
FetchContent_Declare(libsdd
    URL "${libsdd_releases}/libsdd-${libsdd_version}-linux-${CMAKE_SYSTEM_PROCESSOR}.tar.gz"
    URL_HASH "SHA256=${libsdd_sum}")
FetchContent_MakeAvailable(libsdd)
find_package(sdd ${libsdd_version} EXACT REQUIRED CONFIG PATHS "${libsdd_SOURCE_DIR}" NO_DEFAULT_PATH)
