"""A browser for the tests of this room, or a reason why there is none."""

import importlib.util
from pathlib import Path

import pytest

from mltsk.pages.explorer import explore


def _browser_module():
    spec = importlib.util.spec_from_file_location("mltsk_browser", Path(__file__).with_name("browser.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _started(module, path, tmp_path_factory):
    """A browser; a second try if a busy machine let the first one down."""
    for _ in range(2):
        try:
            return module.Browser(path, tmp_path_factory.mktemp("profile"))
        except (OSError, TimeoutError) as error:
            reason = error
    pytest.skip(f"{path} does not start here: {reason}")


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    module = _browser_module()
    path = module.find_chromium()
    if path is None:
        pytest.skip("there is no browser: run scripts/install_chromium.sh, which installs Debian's Chromium")
    running = _started(module, path, tmp_path_factory)
    yield running
    running.close()


@pytest.fixture(scope="session")
def page(tmp_path_factory):
    """Write the page of a model and say where it is."""

    def write(model, X=None, Y=None, **options):
        return explore(model, tmp_path_factory.mktemp("page") / "page.html", X, Y, **options)

    return write
