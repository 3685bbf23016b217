"""A headless Chromium, driven over its own debugging pipe: no driver and no package besides the browser itself.

Messages are JSON with a zero byte after each, on the file descriptors 3 (to the browser) and 4 (from it).
"""

import json
import os
import select
import shutil
import subprocess
import time
from base64 import b64decode
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
OPTIONS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--mute-audio"),
    *("--disable-extensions", "--disable-background-networking", "--hide-scrollbars", "--force-color-profile=srgb"),
    "--remote-debugging-pipe",
)
PATIENCE = 60.0  # seconds for one answer, on a machine that is busy with other tests


def find_chromium() -> str | None:
    """Where a Chromium is, or None."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Browser:
    """One browser with one page; ``errors`` collects what its console complains of."""

    def __init__(self, path: str, profile: Path) -> None:
        down, up = os.pipe(), os.pipe()
        self.process = subprocess.Popen(
            [
                "bash",
                "-c",
                'exec "$0" "$@" 3<&"$IN" 4>&"$OUT"',
                path,
                *OPTIONS,
                f"--user-data-dir={profile}",
                "about:blank",
            ],
            env={**os.environ, "IN": str(down[0]), "OUT": str(up[1])},
            pass_fds=(down[0], up[1]),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(down[0])
        os.close(up[1])
        self.out, self.into = down[1], up[0]
        self.buffer, self.last, self.session = b"", 0, ""
        self.errors: list[str] = []
        self.events: list[str] = []
        try:
            self._attach()
        except BaseException:
            self.close()
            raise

    def _attach(self) -> None:
        targets = self.send("Target.getTargets")["targetInfos"]
        page = next(target for target in targets if target["type"] == "page")
        self.session = self.send("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")

    def close(self) -> None:
        """End the browser."""
        try:
            self.session = ""
            self.send("Browser.close")
            self.process.wait(10)
        except (OSError, TimeoutError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.out)
        os.close(self.into)

    def send(self, method: str, **params: Any) -> dict[str, Any]:
        """Call a method of the debugging protocol and wait for its result."""
        self.last += 1
        message = {"id": self.last, "method": method, "params": params}
        message |= {"sessionId": self.session} if self.session else {}
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.out, data) :]
        until = time.monotonic() + PATIENCE
        while True:
            answer = self._receive(until)
            if answer.get("id") == self.last:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self._note(answer)

    def _receive(self, until: float) -> dict[str, Any]:
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.into], [], [], max(0.0, until - time.monotonic()))
            chunk = os.read(self.into, 1 << 16) if ready else b""
            if not chunk:
                raise TimeoutError("the browser does not answer")
            self.buffer += chunk
        line, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(line)

    def _note(self, event: dict[str, Any]) -> None:
        method, params = event.get("method", ""), event.get("params", {})
        self.events.append(method)
        if method == "Runtime.exceptionThrown":
            self.errors.append(params["exceptionDetails"].get("exception", {}).get("description", "exception"))
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.errors.append(str([arg.get("value") for arg in params["args"]]))
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.errors.append(params["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.events[-1] += " " + params["request"]["url"]

    def open(
        self,
        path: Path,
        *,
        width: int = 1400,
        height: int = 1000,
        dark: bool = False,
        fragment: str = "",
        ready: str = "window.explorer",
    ) -> None:
        """Load a file in a window of the given size, with the end of an address, until it is there and ``ready``."""
        self.errors.clear()
        self.events.clear()
        self.send(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.send("Emulation.setEmulatedMedia", features=scheme)
        if fragment:  # the same page with another one would not be loaded again
            self.send("Page.navigate", url="about:blank")
        self.send("Page.navigate", url=Path(path).resolve().as_uri() + fragment)
        until = time.monotonic() + PATIENCE
        while not self.run(f"document.readyState === 'complete' && Boolean({ready})"):
            if time.monotonic() > until or self.errors:
                raise AssertionError(f"{path} did not load: {self.errors}")
            time.sleep(0.02)

    def run(self, code: str) -> Any:
        """The value of an expression in the page, promises awaited."""
        result = self.send("Runtime.evaluate", expression=code, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise AssertionError(result["exceptionDetails"]["exception"].get("description", code))
        return result["result"].get("value")

    def busy(self, code: str) -> float:
        """Seconds of processor time that the page's main thread spends on an expression, drawing included.

        Time on the clock says little where tests share a machine: the same update took 6 to 150 ms by it at a load of
        10 on two cores, and 5.5 to 6.7 ms by this.
        """
        self.send("Performance.enable", timeDomain="threadTicks")
        before = self._task_seconds()
        self.run(code)
        return self._task_seconds() - before

    def _task_seconds(self) -> float:
        metrics = self.send("Performance.getMetrics")["metrics"]
        return next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration")

    def settled(self) -> None:
        """Wait until the page has drawn what was asked for."""
        self.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")

    def press(self, key: str, *, text: str = "", code: int = 0) -> None:
        """Press and release a key, as a person does."""
        common = {"key": key, "windowsVirtualKeyCode": code} | ({"text": text} if text else {})
        self.send("Input.dispatchKeyEvent", type="keyDown", **common)
        self.send("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)
        self.settled()

    def click(self, selector: str) -> None:
        """Click into the middle of an element."""
        box = f"document.querySelector({json.dumps(selector)})"
        self.run(f"{box}.scrollIntoView({{block: 'center'}})")
        self.settled()
        x, y = self.run(
            f"(() => {{ const b = {box}.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; }})()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
        self.settled()

    def screenshot(self, path: Path, *, full: bool = False) -> None:
        """A PNG of the window, or of the whole page."""
        content = self.send("Page.captureScreenshot", format="png", captureBeyondViewport=full)["data"]
        Path(path).write_bytes(b64decode(content))
