//! Asks pkg-config where libsdd is, and tells the linker. PKG_CONFIG names another program to ask.

use std::{env, process::Command};

fn main() {
    for variable in ["PKG_CONFIG", "PKG_CONFIG_PATH", "PKG_CONFIG_LIBDIR", "PKG_CONFIG_SYSROOT_DIR"] {
        println!("cargo:rerun-if-env-changed={variable}");
    }
    println!("cargo:rerun-if-changed=build.rs");

    let program = env::var("PKG_CONFIG").unwrap_or_else(|_| "pkg-config".into());
    let output = Command::new(&program)
        .args(["--libs", "sdd"])
        .output()
        .unwrap_or_else(|error| panic!("{program} cannot be run: {error}"));
    if !output.status.success() {
        panic!(
            "libsdd is not installed, or PKG_CONFIG_PATH does not lead to its sdd.pc:\n{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    for flag in String::from_utf8_lossy(&output.stdout).split_whitespace() {
        match flag.split_at(flag.len().min(2)) {
            ("-L", directory) => println!("cargo:rustc-link-search=native={directory}"),
            ("-l", library) => println!("cargo:rustc-link-lib=dylib={library}"),
            _ => println!("cargo:rustc-link-arg={flag}"),
        }
    }
}
