"""Pictures that are decoded by processes of their own."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import FIXTURES

import sdd


@pytest.mark.parametrize("name", ["jpeg/baseline-420.jpg", "jpeg/progressive-420.jpg", "png/grey-alpha16.png"])
def test_pixels_are_those_of_this_process(name: str) -> None:
    url = (Path(FIXTURES) / name).as_uri()
    images = []
    for isolated in (False, True):
        with sdd.Loader(no_cache=True, allow_file_urls=True, isolated_decoding=isolated) as loader:
            images.append(loader.load_sync(url).to_numpy())
    assert (images[0] == images[1]).all()


def test_the_program_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDD_DECODER", "/missing/sdd-decoder")
    with pytest.raises(sdd.Error, match="/missing/sdd-decoder") as caught:
        sdd.Loader(no_cache=True, isolated_decoding=True)
    assert caught.value.status == sdd.Status.UNSUPPORTED
