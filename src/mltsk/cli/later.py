"""Modules that are imported when a command first uses something of them, so that ``mltsk --help`` answers at once."""

from importlib import import_module
from typing import Any


class Later:
    """A module by its name, with all that it holds."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(import_module(self._name), attribute)


inputs, np, pandas = Later("mltsk.cli.inputs"), Later("numpy"), Later("pandas")
console, live, progress = (
    Later("rich.console"),
    Later("rich.live"),
    Later("rich.progress"),
)
pages, rendering = Later("mltsk.pages.review"), Later("mltsk.pages.render")
