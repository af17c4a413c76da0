# Evaluates the expression beside this file with stand-ins for nixpkgs, and makes a derivation of its attributes, which
# fails if one has a value that a build cannot take. It builds nothing.
#
#     nix-instantiate --store dummy:// --readonly-mode --eval --strict packaging/nix/check.nix
{
  package ? ./package.nix,
}:

let
  expression = import package;
  tool = name: builtins.toFile name "";
  given = {
    lib.licenses.mit.spdxId = "MIT";
    swiftPackages.stdenv.mkDerivation =
      attributes:
      let
        final = attributes final;
      in
      final;
    fetchurl = { url, hash }: builtins.toFile "source" "${url} ${hash}";
  };
  arguments = builtins.mapAttrs (name: _: given.${name} or (tool name)) (builtins.functionArgs expression);
  attributes = expression arguments;
  derivation' = derivation (
    removeAttrs attributes [ "meta" ]
    // {
      name = "${attributes.pname}-${attributes.version}";
      system = builtins.currentSystem;
      builder = "/bin/sh";
    }
  );
in
{
  inherit (derivation') name drvPath;
  inherit (attributes) meta;
  known = builtins.elem builtins.currentSystem attributes.meta.platforms;
}
