#!/usr/bin/env python3
"""Writes what the files of a release consist of and need, as SPDX 2.3, and validates it. Needs spdx-tools of PyPI.

    packaging/make_sbom.py FOLDER VERSION NAMESPACE

FOLDER is what packaging/release.sh has filled: the archive of the sources, debian/SUITE/*.deb, python/*.whl. A package
for each of them is described, with its checksum; what it needs from the system, by its fields Depends; the Swift runtime
in it, by Built-Using; and each library that a wheel carries. NAMESPACE is a URL of the releaser's, which makes the
document's identity unique. Writes FOLDER/libsdd-VERSION.spdx.json.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import zipfile
from datetime import datetime, timezone
from pathlib import Path

from spdx_tools.common.spdx_licensing import spdx_licensing
from spdx_tools.spdx.model import (
    Actor, ActorType, Checksum, ChecksumAlgorithm, CreationInfo, Document, ExternalPackageRef,
    ExternalPackageRefCategory, Package, Relationship, RelationshipType, SpdxNoAssertion,
)  # fmt: skip
from spdx_tools.spdx.validation.document_validator import validate_full_spdx_document
from spdx_tools.spdx.writer.write_anything import write_file

MIT = spdx_licensing.parse("MIT")
SWIFT = spdx_licensing.parse("Apache-2.0 WITH Swift-exception")


def sha256(data: bytes) -> list[Checksum]:
    return [Checksum(ChecksumAlgorithm.SHA256, hashlib.sha256(data).hexdigest())]


def purl(text: str) -> list[ExternalPackageRef]:
    return [ExternalPackageRef(ExternalPackageRefCategory.PACKAGE_MANAGER, "purl", text)]


class Bill:
    """The document, as it grows."""

    def __init__(self, version: str, namespace: str) -> None:
        info = CreationInfo(
            "SPDX-2.3", "SPDXRef-DOCUMENT", f"libsdd-{version}", f"{namespace}/libsdd-{version}.spdx.json",
            [Actor(ActorType.ORGANIZATION, "The libsdd authors"), Actor(ActorType.TOOL, "packaging/make_sbom.py")],
            datetime.now(timezone.utc).replace(microsecond=0, tzinfo=None),
        )  # fmt: skip
        self.document = Document(info)
        self.known: dict[tuple[str, str], str] = {}

    def package(self, name: str, version: str, **facts: object) -> str:
        """Adds a package, unless it is there, and returns its id."""
        key = (name, version)
        if key not in self.known:
            self.known[key] = "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]+", "-", f"{name}-{version}" if version else name)
            facts.setdefault("license_declared", SpdxNoAssertion())
            self.document.packages.append(
                Package(
                    self.known[key], name, SpdxNoAssertion(), version=version or None, files_analyzed=False,
                    license_concluded=facts["license_declared"], copyright_text=SpdxNoAssertion(), **facts,
                )  # fmt: skip
            )
        return self.known[key]

    def relate(self, one: str, kind: RelationshipType, other: str) -> None:
        self.document.relationships.append(Relationship(one, kind, other))


def field(package: Path, name: str) -> str:
    return subprocess.run(
        ["dpkg-deb", "-f", package, name], check=True, stdout=subprocess.PIPE, text=True
    ).stdout.strip()


def add_debian(bill: Bill, package: Path, suite: str, source: str) -> None:
    name, version, machine = (field(package, part) for part in ("Package", "Version", "Architecture"))
    own = bill.package(
        package.name, version, checksums=sha256(package.read_bytes()), file_name=f"debian/{suite}/{package.name}",
        license_declared=MIT,
        external_references=purl(f"pkg:deb/debian/{name}@{version}?arch={machine}&distro={suite}"),
    )  # fmt: skip
    bill.relate("SPDXRef-DOCUMENT", RelationshipType.DESCRIBES, own)
    bill.relate(own, RelationshipType.GENERATED_FROM, source)
    for need in filter(None, re.split(r", *", field(package, "Depends"))):
        other = re.split(r"[ (|:]", need)[0]
        if not re.match(r"(lib|python3-)?sdd|librust-sdd", other):
            bill.relate(own, RelationshipType.DEPENDS_ON, bill.package(other, ""))
    for name, version in re.findall(r"([^ ,]+) \(= ([^)]+)\)", field(package, "Built-Using")):
        runtime = bill.package(name, version, license_declared=SWIFT)
        bill.relate(own, RelationshipType.STATIC_LINK, runtime)


def add_wheel(bill: Bill, wheel: Path, version: str, source: str) -> None:
    own = bill.package(
        wheel.name, version, checksums=sha256(wheel.read_bytes()), file_name=f"python/{wheel.name}",
        license_declared=MIT, external_references=purl(f"pkg:pypi/libsdd@{version}"),
    )  # fmt: skip
    bill.relate("SPDXRef-DOCUMENT", RelationshipType.DESCRIBES, own)
    bill.relate(own, RelationshipType.GENERATED_FROM, source)
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if ".libs/" in name:
                library = bill.package(name.rsplit("/", 1)[1], "", checksums=sha256(archive.read(name)))
                bill.relate(own, RelationshipType.CONTAINS, library)


def main() -> int:
    folder, version, namespace = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    bill = Bill(version, namespace)
    archive = folder / f"libsdd-{version}.tar.gz"
    source = bill.package(
        archive.name, version, checksums=sha256(archive.read_bytes()), file_name=archive.name, license_declared=MIT
    )
    bill.relate("SPDXRef-DOCUMENT", RelationshipType.DESCRIBES, source)
    for name in ("libcurl", "libjpeg-turbo", "libpng"):
        bill.relate(source, RelationshipType.DEPENDS_ON, bill.package(name, ""))
    for package in sorted(folder.glob("debian/*/*.deb")):
        add_debian(bill, package, package.parent.name, source)
    for wheel in sorted(folder.glob("python/*.whl")):
        add_wheel(bill, wheel, version, source)
    problems = validate_full_spdx_document(bill.document)
    for problem in problems:
        print(f"make_sbom.py: {problem.validation_message}", file=sys.stderr)
    if not problems:
        write_file(bill.document, str(folder / f"libsdd-{version}.spdx.json"), validate=False)
        print(f"{len(bill.document.packages)} packages")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
