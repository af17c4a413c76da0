"""pyarrow's functions on columns. pyarrow makes them when it is imported, so that type checkers do not know them."""

from __future__ import annotations

import importlib
from typing import Any

compute: Any = importlib.import_module("pyarrow.compute")
