# The structs of the examples in Python and Rust, for Tests/examples.sh, which sources this: are they those of the
# header, field by field? Uses $work, $bin, fail, ok, gives.

# compare_layouts NAME: $work/layout.c, made from its structs, says of each field what $work/out says.
compare_layouts() {
    cc $(pkg-config --cflags sdd) "$work/layout.c" -o "$bin/layout"
    [ "$(wc -l <"$work/out")" -gt 100 ] || fail "$1: fields are missing"
    "$bin/layout" | diff - "$work/out" || fail "$1: the structs are not those of the header"
    ok "$1: structs"
}

check_python_layouts() {
    cat >"$work/layout.py" <<'PYTHON'
import re, sys
from ctypes import sizeof
import sdd_ctypes as sdd

names = {sdd.Config: "downloader_config"}
with open(sys.argv[1], "w") as program:
    print("#include <sdd/sdd.h>\n#include <stdio.h>\nint main(void)\n{", file=program)
    for struct in [sdd.Header] + sdd.Sized.__subclasses__():
        name = "sdd_" + names.get(struct, re.sub("(?<!^)([A-Z])", r"_\1", struct.__name__).lower())
        print(f'    printf("{name} %zu\\n", sizeof({name}));', file=program)
        print(name, sizeof(struct))
        for field, _ in struct._fields_:
            print(f'    printf("{name} {field} %zu\\n", offsetof({name}, {field}));', file=program)
            print(name, field, getattr(struct, field).offset)
    print("    return 0;\n}", file=program)
PYTHON
    gives 0 python3 "$work/layout.py" "$work/layout.c"
    compare_layouts sdd_ctypes.py
}

check_rust_layouts() {
    awk -v c="$work/layout.c" -v rust="$work/layout.rs" -v ffi="$PWD/examples/rust/src/sdd/ffi.rs" '
        function add(name, field, in_c, in_rust) {
            printf "    printf(\"%s %s%%zu\\n\", %s);\n", name, field, in_c >c
            printf "    println!(\"%s %s{}\", %s);\n", name, field, in_rust >rust
        }
        BEGIN {
            print "#include <sdd/sdd.h>\n#include <stdio.h>\nint main(void)\n{" >c
            printf "#![allow(dead_code)]\n#[path = \"%s\"]\nmod ffi;\nfn main() {\n", ffi >rust
        }
        /^pub struct / && $3 != "Opaque" {
            type = $3
            name = type == "Config" ? "DownloaderConfig" : type
            while (match(name, /[a-z][A-Z]/)) name = substr(name, 1, RSTART) "_" substr(name, RSTART + 1)
            name = "sdd_" tolower(name)
            add(name, "", "sizeof(" name ")", "std::mem::size_of::<ffi::" type ">()")
            next
        }
        /^}/ { type = "" }
        type != "" && /^    pub/ {
            field = $2
            sub(/:$/, "", field)
            it = "let it = std::mem::MaybeUninit::<ffi::" type ">::uninit();"
            at = "let at = unsafe { std::ptr::addr_of!((*it.as_ptr())." field ") as usize };"
            add(name, field " ", "offsetof(" name ", " field ")", "{ " it " " at " at - it.as_ptr() as usize }")
        }
        END { print "    return 0;\n}" >c; print "}" >rust }
    ' examples/rust/src/sdd/ffi.rs
    rustc --edition 2021 -o "$bin/layout_rust" "$work/layout.rs"
    gives 0 "$bin/layout_rust"
    compare_layouts ffi.rs
}
