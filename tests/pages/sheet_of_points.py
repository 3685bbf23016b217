"""A program that knows nothing but the text of a sheet of points.

It shares no code with the package: it reads the CSV or the HTML that was written, adds
up points by hand, and looks up the total.
"""

import csv
import io
import re
from html.parser import HTMLParser


class SheetOfCSV:
    """The CSV of sheets: ``probability(label, person)`` and ``is_given``."""

    def __init__(self, text):
        self.lines = list(csv.DictReader(io.StringIO(text)))

    def _of(self, label, *parts):
        for line in self.lines:
            if line["label"] == label and line["part"] in parts:
                yield line

    def total(self, label, person):
        features = {line["feature"] for line in self._of(label, "missing")}
        return sum(self._points(label, name, person[name]) for name in features)

    def _points(self, label, feature, cell):
        other = None
        for line in self._of(label, "range", "value", "other", "missing"):
            if line["feature"] != feature:
                continue
            points = int(line["points"])
            if line["part"] == "missing" and cell is None:
                return points
            if line["part"] == "value" and cell == line["value"]:
                return points
            if line["part"] == "range" and cell is not None:
                low = float(line["from"] or "-inf")
                high = float(line["below"] or "inf")
                if low <= cell < high:
                    return points
            if line["part"] == "other":
                other = points
        return other

    def probability(self, label, person):
        total = str(self.total(label, person))
        for line in self._of(label, "total"):
            if line["points"] == total:
                return float(line["probability"])
        raise AssertionError(f"the table has no total of {total}")

    def is_given(self, label, person):
        (line,) = self._of(label, "threshold")
        return line["points"] != "" and self.total(label, person) >= int(line["points"])


class _Text(HTMLParser):
    """Tables of a page as lists of texts, one list per sheet."""

    def __init__(self):
        super().__init__()
        self.sheets = []
        self.words = None

    def handle_starttag(self, tag, attributes):
        if tag == "article":
            self.sheets.append({"label": "", "rows": []})
        elif tag in ("h1", "th", "td", "li"):
            self.words = []
        if tag == "tr":
            self.sheets[-1]["rows"].append([])

    def handle_data(self, data):
        if self.words is not None and data.strip():
            self.words.append(data.strip())

    def handle_endtag(self, tag):
        if tag == "h1":
            self.sheets[-1]["label"] = self.words[0].removeprefix("Points for ")
        if tag in ("th", "td", "li") and self.words is not None:
            rows = self.sheets[-1]["rows"]
            if rows:
                rows[-1].append(self.words)
            self.words = None


class SheetOfHTML:
    """The HTML of sheets, read as a person does: words and numbers in tables."""

    def __init__(self, text):
        parser = _Text()
        parser.feed(text)
        self.items = {}
        self.chances = {}
        for sheet in parser.sheets:
            rows = sheet["rows"]
            items = self.items[sheet["label"]] = {}
            chances = self.chances[sheet["label"]] = {}
            for row, below in zip(rows, [*rows[1:], []], strict=True):
                first = row[0][0]
                if first == "total":
                    totals = [int(cell[0]) for cell in row[1:]]
                    percents = [cell[0] for cell in below[1:]]
                    chances.update(zip(totals, percents, strict=True))
                elif first not in ("Finding", "%", "Total"):
                    items[first] = [cell for cell in row[1:] if cell]

    def probability(self, label, person):
        total = 0
        for name, cells in self.items[label].items():
            *choices, missing = cells
            total += self._points(choices, missing, person[name])
        return round(float(self.chances[label][total]) / 100, 3)

    def _points(self, choices, missing, cell):
        if cell is None:
            return int(missing[0])
        for text, points in choices:
            if text == cell or (not isinstance(cell, str) and _holds(text, cell)):
                return int(points)
        return int(dict(choices)["any other value"])


def _holds(text, number):
    """Whether a number is in a range as it is printed."""
    numbers = [float(n.replace(",", "")) for n in re.findall(r"-?[\d,]+\.?\d*", text)]
    if text.startswith("below"):
        return number < numbers[0]
    if text.endswith("or more"):
        return number >= numbers[0]
    if "to below" in text:
        return numbers[0] <= number < numbers[1]
    return numbers[0] <= number <= numbers[-1]  # whole numbers
