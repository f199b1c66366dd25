"""What the tests of the surfaces share."""

from collections.abc import Iterator

import pytest

from tests.surfaces.kit import Served, served


@pytest.fixture
def server() -> Iterator[Served]:
    with served() as made:
        yield made
