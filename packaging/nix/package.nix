# Expression for nixpkgs: becomes pkgs/by-name/li/libsdd/package.nix.
# packaging/set-release.sh fills in version and hash.
{
  lib,
  swiftPackages,
  swift,
  swiftpm,
  fetchurl,
  autoPatchelfHook,
  lld,
  pkg-config,
  python3,
  curl,
  libjpeg,
  libpng,
}:

let
  releases = "https://example.org/libsdd/releases";
in
swiftPackages.stdenv.mkDerivation (finalAttrs: {
  pname = "libsdd";
  version = "0.4.0";

  src = fetchurl {
    url = "${releases}/libsdd-${finalAttrs.version}.tar.gz";
    # set-release.sh: sri source
    hash = "sha256-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
  };

  nativeBuildInputs = [
    autoPatchelfHook # lld, which links the library, writes no path of curl, libjpeg and libpng
    lld
    pkg-config
    python3
    swift # 6.2 or later
    swiftpm
  ];

  buildInputs = [
    curl
    libjpeg
    libpng
  ];

  postPatch = "patchShebangs tools docs/site";

  # SwiftPM's hook would build and install the library alone, without headers and program.
  buildPhase = ''
    runHook preBuild
    export HOME="$TMPDIR" # SwiftPM writes to it
    make SHELL="$SHELL"
    runHook postBuild
  '';

  installPhase = ''
    runHook preInstall
    make SHELL="$SHELL" install PREFIX="$out"
    runHook postInstall
  '';

  meta = {
    description = "Image loader for C, which downloads, caches and decodes";
    homepage = "https://example.org/libsdd";
    license = lib.licenses.mit;
    mainProgram = "sdd";
    maintainers = [ ];
    platforms = [
      "x86_64-linux"
      "aarch64-linux"
    ];
  };
})
