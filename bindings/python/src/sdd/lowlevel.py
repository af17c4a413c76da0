"""The C interface as it is: `lib` has all calls, `ffi` is cffi's object for memory, and every SDD_ number is in `lib`.

The header, include/sdd/sdd.h, is the reference. Unlike the rest of the package, wrong use of this layer can end the
process. `lib.sdd_load` and all others let go of Python's lock (the GIL) during the call.

    >>> from sdd.lowlevel import ffi, lib
    >>> ffi.string(lib.sdd_status_name(lib.SDD_ERROR_TLS))
    b'SDD_ERROR_TLS'
"""

from ._native import ffi, lib

__all__ = ["ffi", "lib"]
