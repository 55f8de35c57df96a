"""The browser that all tests of pages share."""
import pytest

import browser as chromium


@pytest.fixture(scope="session")
def browser():
    if not chromium.find():
        pytest.skip(f"none of {', '.join(chromium.NAMES)} is installed")
    one = chromium.Browser()
    yield one
    one.close()
