"""Writes the programs of pages in Markdown to files, for a type checker: programs.py FOLDER PAGE..."""

from __future__ import annotations

import re
import sys
from pathlib import Path


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True)
    for page in map(Path, sys.argv[2:]):
        programs = re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
        assert programs, page
        for number, program in enumerate(programs):
            (folder / f"{page.stem.replace('-', '_').lower()}_{number}.py").write_text(program)


if __name__ == "__main__":
    main()
