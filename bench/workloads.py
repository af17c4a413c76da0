"""The workloads of the benchmark, and the lists of URLs that they fetch."""

from __future__ import annotations

import dataclasses
from pathlib import Path

PORTS = {"http": 18700, "http2": 18701, "tls": 18702, "delayed": 18703, "slow": 18704}
# A TLS certificate is for a name.
ORIGINS = {server: f"https://localhost:{port}" if server in ("http2", "tls") else f"http://127.0.0.1:{port}"
           for server, port in PORTS.items()}


@dataclasses.dataclass(frozen=True)
class Workload:
    name: str
    text: str
    """What is done with each URL, for the tables."""
    parts: tuple[str, ...]
    """Folders of the corpus."""
    in_flight: tuple[int, ...]
    """Numbers of requests at a time; each is measured by itself."""
    server: str = "http"
    decodes: bool = False
    copies: int = 1
    """Number of different URLs for each file."""
    tolerance: float = 0
    """Mean difference to the baseline's pixels, in levels of 255, that peers may have. The candidate may have none."""
    is_cached: bool = False
    """Whether the URLs come from a warm disk cache, without a network."""

    @property
    def argument(self) -> str:
        """The name of the work in the arguments of the programs."""
        return self.name.removesuffix("x")

    @property
    def needs_tls(self) -> bool:
        return ORIGINS[self.server].startswith("https:")


WORKLOADS = {workload.name: workload for workload in (
    Workload("W1", "2,000 small JPEGs, bytes only", ("small",), (6, 64)),
    Workload("W1x", "2,000 small JPEGs under 20,000 different URLs, bytes only", ("small",), (64,), copies=10),
    Workload("W2", "2,000 small JPEGs, decoded", ("small",), (6, 64), decodes=True),
    Workload("W3", "500 photographs of 1 to 2 megapixels, decoded", ("photo",), (6, 64), decodes=True),
    Workload("W4", "40 photographs of 12 to 48 megapixels, decoded to fit into 512 x 512", ("large",), (6,),
             decodes=True, tolerance=5),
    Workload("W5", "1,000 icons and 100 pictures, PNG, decoded", ("icon", "png"), (64,), decodes=True),
    Workload("W6", "one body of 200 MiB", ("body",), (1,)),
    Workload("W7", "2,000 small JPEGs with a round trip of 30 ms, bytes only", ("small",), (64,), server="delayed"),
    Workload("W8", "2,000 small JPEGs over HTTP/2 and TLS, bytes only", ("small",), (64,), server="http2"),
    Workload("W8h1", "2,000 small JPEGs over HTTP/1.1 and TLS, bytes only", ("small",), (64,), server="tls"),
    Workload("W9", "2,000 small JPEGs from a warm disk cache, bytes only", ("small",), (6,), is_cached=True),
    Workload("W9d", "2,000 small JPEGs from a warm disk cache, decoded", ("small",), (6,), decodes=True,
             is_cached=True),
    Workload("W10", "a progressive JPEG of 3.8 megapixels at 1 MB/s, decoded with previews", ("stream",), (1,),
             server="slow", decodes=True),
)}

QUICK = ("W1", "W2", "W5", "W6", "W8", "W9")


def write_urls(work: Path, workload: Workload) -> Path:
    """Writes the URLs of a workload to a file, one a line, and returns the file."""
    origin, corpus = ORIGINS[workload.server], work / "corpus"
    paths = [f"/{part}/{file.name}" for part in workload.parts for file in sorted((corpus / part).iterdir())]
    queries = [f"?copy={number}" for number in range(workload.copies)] if workload.copies > 1 else [""]
    file = work / "urls" / workload.name
    file.parent.mkdir(exist_ok=True)
    file.write_text("".join(f"{origin}{path}{query}\n" for query in queries for path in paths))
    return file
