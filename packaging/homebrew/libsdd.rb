# Formula for Homebrew on Linux: becomes Formula/libsdd.rb of a tap; `brew install --build-from-source libsdd`.
# packaging/set-release.sh fills in version and checksum.
class Libsdd < Formula
  desc "Image loader for C, which downloads, caches and decodes"
  homepage "https://example.org/libsdd"
  url "https://example.org/libsdd/releases/libsdd-0.4.0.tar.gz"
  # set-release.sh: sha256 source
  sha256 "0000000000000000000000000000000000000000000000000000000000000000"
  license "MIT"

  depends_on "lld" => :build
  depends_on "pkgconf" => :build
  depends_on "python@3.14" => :build
  depends_on "swift" => :build # 6.2 or later
  depends_on "curl"
  depends_on "jpeg-turbo"
  depends_on "libpng"
  depends_on :linux

  def install
    # Homebrew's wrappers of compilers, which would add the path of its libraries, do not reach Swift's linker.
    system "make", "SWIFTFLAGS=-Xlinker -rpath -Xlinker #{HOMEBREW_PREFIX}/lib"
    system "make", "install", "PREFIX=#{prefix}"
  end

  test do
    (testpath/"test.c").write <<~C
      #include <sdd/sdd.h>
      #include <stdio.h>

      int main(void)
      {
          return puts(sdd_version_string()) < 0;
      }
    C
    system ENV.cc, "test.c", "-I#{include}", "-L#{lib}", "-Wl,-rpath,#{lib}", "-lsdd", "-o", "test"
    assert_equal version.to_s, shell_output("./test").strip
    assert_match version.to_s, shell_output("#{bin}/sdd --version")
  end
end
