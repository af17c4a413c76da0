"""Does what a language binding does: uses the header and the library as they are, without a compiler.

    load_python.py LIBRARY HEADER

It uses ctypes and, if it is installed, cffi, whose parser must understand the header as it is.
"""

import ctypes
import glob
import os
import re
import subprocess
import sys
import tempfile


def check_ctypes(library):
    sdd = ctypes.CDLL(library)
    for name in "sdd_version_string", "sdd_status_name", "sdd_status_message":
        getattr(sdd, name).restype = ctypes.c_char_p
    version = tuple(map(int, sdd.sdd_version_string().decode().split(".")))
    assert sdd.sdd_version() == version[0] * 1_000_000 + version[1] * 1000 + version[2]
    assert sdd.sdd_status_name(3003) == b"SDD_ERROR_TLS"
    assert sdd.sdd_status_name(-1) == b"SDD_ERROR_UNKNOWN"
    assert len(sdd.sdd_status_message(3003)) > 10
    print("ok ctypes")


def check_cffi(library, header):
    try:
        import cffi
    except ImportError:
        print("skip cffi: not installed")
        return
    # Removes the system headers, whose types cffi knows, and attributes, which it does not parse.
    with tempfile.TemporaryDirectory() as folder:
        for path in glob.glob(os.path.join(os.path.dirname(header), "*.h")):
            with open(path) as file, open(os.path.join(folder, os.path.basename(path)), "w") as copy:
                copy.write(re.sub(r"#include <.*", "", file.read()))
        command = ["gcc", "-std=c11", "-E", "-P", os.path.join(folder, os.path.basename(header))]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    ffi = cffi.FFI()
    ffi.cdef(re.sub(r"__attribute__\s*\(\(.*?\)\)\)", "", text))
    sdd = ffi.dlopen(library)
    config = ffi.new("sdd_downloader_config *")
    assert sdd.sdd_downloader_get_config(ffi.NULL, config) == sdd.SDD_ERROR_INVALID_ARGUMENT  # struct_size is 0
    assert ffi.string(sdd.sdd_status_name(sdd.SDD_ERROR_TLS)) == b"SDD_ERROR_TLS"
    print("ok cffi")


check_ctypes(sys.argv[1])
check_cffi(sys.argv[1], sys.argv[2])
