//! The C interface of libsdd: every call, struct, callback type and number of its header, made by bindgen.
//!
//! The documentation is the header itself, `sdd/sdd.h` and its chapters. The crate `sdd` is a safe layer over this one.
//!
//! A struct of the header begins with `struct_size`. [`sized!`] makes one with all defaults:
//!
//! ```
//! use sdd_sys::*;
//!
//! let mut info = sized!(sdd_image_info);
//! let png = [0x89, b'P', b'N', b'G'];
//! // SAFETY: the bytes are read, and the info is written, before the call returns.
//! let status = unsafe { sdd_image_probe(png.as_ptr().cast(), png.len(), &mut info) };
//! assert_eq!(status, SDD_ERROR_INCOMPLETE);
//! ```
//!
//! Linking: `build.rs` asks pkg-config for `sdd`. With `SDD_LIB_DIR` in the environment it links with the library in
//! that folder, such as `build` of libsdd's sources; programs and tests then need `LD_LIBRARY_PATH` to run.

mod bindings;

pub use bindings::*;

/// Returns a struct of the header in which `struct_size` is set, and every other field has its default.
#[macro_export]
macro_rules! sized {
    ($name:ident) => {
        $crate::$name { struct_size: ::std::mem::size_of::<$crate::$name>(), ..::std::default::Default::default() }
    };
}
