"""A browser for the tests of this room, or a reason why there is none."""

import shutil
from pathlib import Path

import pytest

from mltsk.pages.explorer import explore

NAMES = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
)
PATIENCE = 60_000  # milliseconds, on a machine that is busy with other tests
DRAWN = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))"


class Browser:
    """A window and a phone of Chromium; `errors` is what a page complained of, `requests` what it asked for."""

    def __init__(self, chromium):
        self.errors, self.requests = [], []
        self.pages = {
            mobile: chromium.new_page(is_mobile=mobile) for mobile in (False, True)
        }
        for page in self.pages.values():
            page.set_default_timeout(PATIENCE)
            page.on("pageerror", lambda error: self.errors.append(str(error)))
            page.on(
                "dialog",
                lambda dialog: (self.errors.append(dialog.message), dialog.dismiss()),
            )
            page.on(
                "console",
                lambda said: self.errors.extend(
                    [said.text] * (said.type in ("error", "warning"))
                ),
            )
            page.on("request", lambda request: self.requests.append(request.url))

    def open(
        self,
        path,
        *,
        width=1400,
        height=1000,
        dark=False,
        fragment="",
        ready="window.explorer",
    ):
        """Load a file in a window of a size, with the end of an address, until it is `ready`."""
        self.page = self.pages[width < 600]
        self.page.goto(
            "about:blank"
        )  # the same page with another fragment would not be loaded again
        self.errors.clear()
        self.requests.clear()
        self.page.set_viewport_size({"width": width, "height": height})
        self.page.emulate_media(color_scheme="dark" if dark else "light")
        self.page.goto(Path(path).resolve().as_uri() + fragment)
        self.page.wait_for_function(f"Boolean({ready})")

    def run(self, code):
        """The value of an expression in the page, promises awaited."""
        return self.page.evaluate(code)

    def settled(self):
        """Wait until the page has drawn what was asked for."""
        self.run(DRAWN)

    def press(self, key):
        self.page.keyboard.press(key)
        self.settled()

    def click(self, selector):
        self.page.locator(selector).first.click()
        self.settled()


@pytest.fixture(
    scope="module"
)  # no longer: the event loop of playwright would be in the way of other tests
def browser():
    sync_api = pytest.importorskip(
        "playwright.sync_api", reason='playwright is missing: pip install "mltsk[test]"'
    )
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        pytest.skip(
            "there is no browser: run scripts/install_chromium.sh, which installs Debian's Chromium"
        )
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, timeout=PATIENCE)
        yield Browser(chromium)
        chromium.close()


@pytest.fixture(scope="session")
def page(tmp_path_factory):
    """Write the page of a model and say where it is."""

    def write(model, X=None, Y=None, **options):
        return explore(
            model, tmp_path_factory.mktemp("page") / "page.html", X, Y, **options
        )

    return write
