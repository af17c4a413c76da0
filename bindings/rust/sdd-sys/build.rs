//! Tells the linker where libsdd is: in the folder that SDD_LIB_DIR names, or where pkg-config finds it.

use std::{env, path::Path};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=SDD_LIB_DIR");
    let named = env::var_os("SDD_LIB_DIR").filter(|directory| !directory.is_empty());
    let directories = match &named {
        Some(directory) => vec![in_folder(Path::new(directory))],
        None => installed(),
    };
    // A crate that depends on this one, and has `build = …`, reads it as DEP_SDD_LIB_DIR.
    if let Some(directory) = directories.first() {
        println!("cargo:lib_dir={directory}");
    }
}

/// Links with the library of a build folder. A program finds it there at run time only with LD_LIBRARY_PATH.
fn in_folder(directory: &Path) -> String {
    let directory = directory
        .canonicalize()
        .unwrap_or_else(|error| panic!("SDD_LIB_DIR is {}, which is no folder: {error}", directory.display()));
    if !directory.join("libsdd.so").exists() {
        panic!("SDD_LIB_DIR is {}, which has no libsdd.so", directory.display());
    }
    let directory = directory.into_os_string().into_string().expect("SDD_LIB_DIR is UTF-8");
    println!("cargo:rustc-link-search=native={directory}");
    println!("cargo:rustc-link-lib=dylib=sdd");
    directory
}

/// Links with the installed library, and returns the folders in which pkg-config finds it.
fn installed() -> Vec<String> {
    // Later versions of the library have all that this one has: docs/abi.md.
    let library = pkg_config::Config::new().atleast_version("0.4.0").probe("sdd").unwrap_or_else(|error| {
        panic!(
            "libsdd is not installed; install it, or let PKG_CONFIG_PATH lead to its sdd.pc, \
             or name a build folder with SDD_LIB_DIR\n{error}"
        )
    });
    library.link_paths.iter().map(|path| path.to_string_lossy().into_owned()).collect()
}
