"""What all objects with an end have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from ._loops import to_thread_in_any_case

if TYPE_CHECKING:
    from typing_extensions import Self


class Closing(ABC):
    """Something that `with` and `async with` close."""

    @abstractmethod
    def close(self) -> None:
        """Waits for the end."""

    async def aclose(self) -> None:
        """`close()` for event loops: waits in a worker thread."""
        await to_thread_in_any_case(self.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.aclose()
