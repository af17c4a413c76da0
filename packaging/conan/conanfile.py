"""Recipe for Conan 2 that takes the released library, since Conan has no Swift compiler: `conan create FOLDER`.

The library needs libcurl.so.4, libjpeg.so.62 and libpng16.so.16 of the system, and glibc 2.36 or later.
packaging/set-release.sh fills in version and checksums.
"""

from os.path import join

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.files import copy, get
from conan.tools.system.package_manager import Apt, Dnf

RELEASES = "https://example.org/libsdd/releases"
MACHINES = {"x86_64": "x86_64", "armv8": "aarch64"}
SUMS = {
    # set-release.sh: sha256 x86_64
    "x86_64": "0000000000000000000000000000000000000000000000000000000000000000",
    # set-release.sh: sha256 aarch64
    "aarch64": "0000000000000000000000000000000000000000000000000000000000000000",
}


class LibsddConan(ConanFile):
    name = "libsdd"
    version = "0.4.0"
    description = "Image loader for C, which downloads, caches and decodes"
    topics = ("images", "download", "cache", "decoder")
    homepage = "https://example.org/libsdd"
    url = "https://example.org/libsdd"
    license = "MIT"
    package_type = "shared-library"
    settings = "os", "arch"

    def validate(self):
        if self.settings.os != "Linux" or str(self.settings.arch) not in MACHINES:
            raise ConanInvalidConfiguration("libsdd is released for Linux on x86_64 and armv8")

    def system_requirements(self):
        Apt(self).install(["libjpeg62-turbo"])
        Apt(self).install_substitutes(["libcurl4t64", "libpng16-16t64"], ["libcurl4", "libpng16-16"])
        Dnf(self).install(["libcurl", "libjpeg-turbo", "libpng"])

    def build(self):
        machine = MACHINES[str(self.settings.arch)]
        get(self, f"{RELEASES}/libsdd-{self.version}-linux-{machine}.tar.gz", sha256=SUMS[machine], strip_root=True)

    def package(self):
        copy(self, "include/*", self.build_folder, self.package_folder)
        copy(self, "lib/*", self.build_folder, self.package_folder)
        copy(self, "bin/*", self.build_folder, self.package_folder)
        copy(self, "*", join(self.build_folder, "share", "doc", "libsdd"), join(self.package_folder, "licenses"))

    def package_info(self):
        self.cpp_info.libs = ["sdd"]
        self.cpp_info.set_property("cmake_file_name", "sdd")
        self.cpp_info.set_property("cmake_target_name", "sdd::sdd")
        self.cpp_info.set_property("pkg_config_name", "sdd")
