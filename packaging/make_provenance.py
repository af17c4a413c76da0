#!/usr/bin/env python3
"""Writes which file of a release was built of which commit, with what, as an in-toto statement with SLSA provenance 1.0.

    packaging/make_provenance.py FOLDER VERSION COMMIT BUILDER

BUILDER is a URL that names who built it, or where. The tools are those of this machine; for the Debian packages, what
they were built with is in their .buildinfo files, which are named as by-products. Writes
FOLDER/libsdd-VERSION.provenance.json.
"""

from __future__ import annotations

import hashlib
import json
import platform
import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path


def described(file: Path, folder: Path) -> dict[str, object]:
    return {
        "name": str(file.relative_to(folder)),
        "digest": {"sha256": hashlib.sha256(file.read_bytes()).hexdigest()},
    }


def first_line(*command: str) -> str:
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
    return run.stdout.splitlines()[0]


def main() -> None:
    folder, version, commit, builder = Path(sys.argv[1]), *sys.argv[2:5]
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    products = [file for file in files if file.suffix in (".deb", ".whl", ".gz", ".xz", ".dsc")]
    facts = {"machine": platform.machine(), "kernel": platform.release(), "swift": first_line("swift", "--version")}
    statement = {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [described(file, folder) for file in products],
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": f"{builder}/packaging/release.sh",
                "externalParameters": {"version": version},
                "internalParameters": facts,
                "resolvedDependencies": [{"uri": f"git+{builder}", "digest": {"gitCommit": commit}}],
            },
            "runDetails": {
                "builder": {"id": builder},
                "metadata": {"finishedOn": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")},
                "byproducts": [described(file, folder) for file in files if file.suffix == ".buildinfo"],
            },
        },
    }
    (folder / f"libsdd-{version}.provenance.json").write_text(json.dumps(statement, indent=2) + "\n")


if __name__ == "__main__":
    main()
