"""One file after another through the real converter, and a root on which `oreo` and the API meet them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from oreo_assets.convert import Conversion, ConversionRequest, convert
from oreo_assets.model.errors import BadFileError
from oreo_assets.model.spec import Limits

from ..api.conftest import Api, api  # noqa: F401 - fixtures
from ..cli.conftest import Oreo, _shop_template, in_review, oreo, shop  # noqa: F401 - fixtures
from ..convert.conftest import make_request  # noqa: F401 - fixtures

SMALL = Limits(max_file_mb=8, max_memory_mb=256, max_seconds=20)


@dataclass(frozen=True)
class Meets:
    """Sends files to the real converting process, with small limits, and looks what it leaves."""

    make: Callable[..., ConversionRequest]
    folder: Path

    def __call__(self, content: bytes | str | Path, ending: str, **changes: Any) -> Conversion:
        return convert(self.make(content, ending, **{"limits": SMALL, **changes}))

    def refused(self, content: bytes | str | Path, ending: str, **changes: Any) -> BadFileError:
        """The refusal, which must be one, in plain words, and leave nothing behind but the file."""
        with pytest.raises(BadFileError) as caught:
            self(content, ending, **changes)
        assert caught.value.remedy
        assert "Traceback" not in str(caught.value)
        assert [p.name for p in self.folder.iterdir() if not p.name.startswith("raw.")] == []
        return caught.value


@pytest.fixture
def meets(make_request: Callable[..., ConversionRequest], tmp_path: Path) -> Meets:  # noqa: F811
    return Meets(make_request, tmp_path)
