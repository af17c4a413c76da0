"""Blocks that must fail, or the tests of the documents would show nothing."""

BROKEN = {
    "a program that does not compile": "```c\n#include <sdd/sdd.h>\nint main(void) { return sdd_none(); }\n```\n",
    "a warning": "```c\n#include <sdd/sdd.h>\nint main(void) { int x; return x; }\n```\n",
    "a part that does not compile": "<!-- test: part -->\n```c\nstatic int f(void) { return sdd_image_width(1, 2); }\n```\n",
    "other output": '```c\n#include <stdio.h>\nint main(void) { puts("a"); return 0; }\n```\n\n```output\nb\n```\n',
    "a status": "```c\nint main(void) { return 3; }\n```\n",
    "an exception": "```python\nraise SystemExit(1)\n```\n",
    "a type": '```python\nx: int = "a"\nprint(x)\n```\n',
    "C++": "```cpp\n#include <sdd/sdd.hpp>\nint main() { return sdd::none(); }\n```\n",
    "Rust": "```rust\nfn main() { sdd::none(); }\n```\n",
    "sh": "```sh\nfalse\n```\n",
    "sh that does not parse": '<!-- test: not-run="it would take far too long here" -->\n```sh\nif\n```\n',
    "a language that no test knows": "```perl\n1;\n```\n",
    "a mark that no test knows": "<!-- test: skip -->\n```c\nint main(void) { return 0; }\n```\n",
    "no reason": '<!-- test: not-run="no" -->\n```sh\ntrue\n```\n',
}
