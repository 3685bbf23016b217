"""A browser for the tests of this room, or a reason why there is none."""

import shutil
import time
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
BETWEEN_QUESTIONS = 20  # milliseconds
TWO_FRAMES = """new Promise((done) => {
  requestAnimationFrame(() => requestAnimationFrame(() => done(true)));
})"""
TEXTS = """(selector) => {
  return [...document.querySelectorAll(selector)].map((node) => node.textContent);
}"""
ENTER = """([selector, value, event]) => {
  const field = document.querySelector(selector);
  field.value = value;
  field.dispatchEvent(new Event(event));
}"""


class Browser:
    """A window and a phone of Chromium.

    ``errors`` is what a page complained of, ``requests`` what it asked for.
    """

    def __init__(self, chromium):
        self.errors = []
        self.requests = []
        self.pages = {
            "window": chromium.new_page(is_mobile=False),
            "phone": chromium.new_page(is_mobile=True),
        }
        for page in self.pages.values():
            page.set_default_timeout(PATIENCE)
            page.on("pageerror", lambda error: self.errors.append(str(error)))
            page.on("dialog", self._note_dialog)
            page.on("console", self._note_message)
            page.on("request", lambda request: self.requests.append(request.url))

    def _note_dialog(self, dialog):
        self.errors.append(dialog.message)
        dialog.dismiss()

    def _note_message(self, message):
        if message.type in ("error", "warning"):
            self.errors.append(message.text)

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
        """Load a file in a window of a size until it is ``ready``.

        ``fragment`` is the end of the address.
        """
        self.page = self.pages["phone" if width < 600 else "window"]
        # The same page with another fragment would not be loaded again.
        self.page.goto("about:blank")
        self.errors.clear()
        self.requests.clear()
        self.page.set_viewport_size({"width": width, "height": height})
        self.page.emulate_media(color_scheme="dark" if dark else "light")
        self.page.goto(Path(path).resolve().as_uri() + fragment)
        self.wait_for(ready)

    def run(self, code, argument=None):
        """The value of an expression, or of a function of an argument, in the page."""
        return self.page.evaluate(code, argument)

    def wait_for(self, condition):
        """Wait until an expression is true in the page.

        Asked from here, again and again: the page's own policy forbids Playwright to
        leave code in it that asks.
        """
        end = time.monotonic() + PATIENCE / 1000
        while not self.run(f"Boolean({condition})"):
            assert time.monotonic() < end, f"never true: {condition}"
            self.page.wait_for_timeout(BETWEEN_QUESTIONS)

    def texts(self, selector):
        """The text of all elements that a selector finds."""
        return self.run(TEXTS, selector)

    def text(self, name):
        """The text of the explorer's element with that name, without ends of blanks."""
        return self.run(f"document.getElementById('x-{name}').textContent").strip()

    def settled(self):
        """Wait until the page has drawn what was asked for."""
        self.run(TWO_FRAMES)

    def press(self, key):
        """Press a key."""
        self.page.keyboard.press(key)
        self.settled()

    def click(self, selector):
        """Click the first element that a selector finds."""
        self.page.locator(selector).first.click()
        self.settled()

    def enter(self, selector, value, event="change"):
        """Set a field as a person does."""
        self.run(ENTER, [selector, value, event])
        self.settled()


# No longer than a module: playwright's event loop would be in the way of other tests.
@pytest.fixture(scope="module")
def browser():
    sync_api = pytest.importorskip(
        "playwright.sync_api", reason='playwright is missing: pip install "mltsk[test]"'
    )
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        pytest.skip(
            "there is no browser: run scripts/install_chromium.sh, "
            "which installs Debian's Chromium"
        )
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, timeout=PATIENCE)
        yield Browser(chromium)
        chromium.close()


@pytest.fixture(scope="session")
def page(tmp_path_factory):
    """Write the page of a model and say where it is."""

    def write(model, X=None, Y=None, **options):
        path = tmp_path_factory.mktemp("page") / "page.html"
        return explore(model, path, X, Y, **options)

    return write
