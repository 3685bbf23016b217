"""A program that reads nothing but the printed text of a short model."""

import math
import re
from dataclasses import dataclass, field

import numpy as np

NUMBER = r"[-+]?[\d,]+(?:\.\d+)?(?:e[-+]?\d+)?"
MARGIN = r"(?: ± [^,; )]+)?"
CHOSEN = r"(?:, \d+ of \d+)?"
MISSING = rf"(?:; not measured (?P<missing>{NUMBER}))?"
END = rf"{MARGIN}{CHOSEN}{MISSING}\)"
SIDE = "(?:very high|very low|high|low|medium)"
LIKELY = "(?:more|less) likely"
PATTERNS = {
    "unit": (
        rf"{LIKELY} with higher (?P<feature>.+) \((?P<number>{NUMBER}){MARGIN} per "
        rf"(?P<per>{NUMBER}), from (?P<low>{NUMBER}) to (?P<high>{NUMBER}){CHOSEN}"
        rf"{MISSING}\)"
    ),
    "levels": (
        rf"{LIKELY} with higher (?P<feature>.+) \(from (?P<first>.+?)"
        rf"(?: over (?P<inner>.+))? to (?P<last>.+) in equal steps, "
        rf"(?P<number>{NUMBER}){END}"
    ),
    "ramp": (
        rf"{LIKELY} with {SIDE} (?P<feature>.+) \(from (?P<low>{NUMBER}) to "
        rf"(?P<high>{NUMBER}), (?P<number>{NUMBER}){END}"
    ),
    "gap": (
        rf"{LIKELY} where (?P<feature>.+) was not measured "
        rf"\((?P<number>{NUMBER}){END}"
    ),
    "value": (
        rf"{LIKELY} where (?P<feature>.+) is (?P<value>.+) \((?P<number>{NUMBER}){END}"
    ),
    "bent": rf"(?P<feature>.+?) up to (?P<points>.+?){MISSING}(?: \(.*\))?",
    "values": rf"(?P<feature>.+?) = (?P<points>.+?){MISSING}(?: \(.*\))?",
}


def as_number(text):
    return float(text.replace(",", ""))


def is_missing(cell):
    return cell is None or (isinstance(cell, float) and math.isnan(cell))


@dataclass
class SheetReader:
    """What a text says: starts, statements and exceptions of each label."""

    starts: dict = field(default_factory=dict)
    statements: list = field(default_factory=list)
    exceptions: list = field(default_factory=list)
    rare: dict = field(default_factory=dict)

    @classmethod
    def of(cls, text):
        reader = cls()
        label = None
        rule = None
        for depth, words in logical_lines(text):
            start = re.fullmatch(rf"(.+): starts at ({NUMBER}), .* %", words)
            rare = re.fullmatch(r"other of (.+) stands for (.+)\.", words)
            if depth == 0:
                rule = None
                if rare:
                    reader.rare[rare[1]] = re.split(", | and ", rare[2])
                if re.match(r"(Exception|Your rule) \d+ — ", words):
                    rule = ([], {}, words.startswith("Your"))
                    reader.exceptions.append(rule)
            elif start and rule is None:
                label = start[1]
                reader.starts[label] = as_number(start[2])
            elif rule is not None:
                reader.read_rule(rule, words)
            elif label is not None:
                reader.statements.append((label, *parsed(words)))
        return reader

    def read_rule(self, rule, words):
        if words in ("IF", "THEN", "nothing changes"):
            return
        shift = re.fullmatch(rf"(.+?): .*; ({NUMBER}){MARGIN}", words)
        if shift:
            rule[1][shift[1]] = as_number(shift[2])
        else:
            rule[0].append(words)

    def scores(self, sample):
        """Log-odds of all labels of {feature: number, word or None}."""
        scores = dict(self.starts)
        for label, kind, found in self.statements:
            cell = sample[found["feature"]]
            if isinstance(cell, str) and cell in self.rare.get(found["feature"], ()):
                cell = "other"
            scores[label] += added(kind, found, cell)
        for conditions, shifts, is_given in self.exceptions:
            share = fits(conditions, sample, is_given)
            for label, shift in shifts.items():
                scores[label] += share * shift
        return list(scores.values())


def logical_lines(text):
    """(indent, words) of each line, with what was wrapped joined again."""
    lines = []
    for line in text.splitlines():
        indent = len(line) - len(line.lstrip())
        if lines and indent == lines[-1][0] + 4:
            lines[-1][1] += f" {line.strip()}"
        elif line:
            lines.append([indent, line.strip()])
    return lines


def parsed(words):
    for kind, pattern in PATTERNS.items():
        found = re.fullmatch(pattern, words)
        if found:
            return kind, found.groupdict()
    raise ValueError(f"no such statement: {words}")


def added(kind, found, cell):
    """What a statement adds for the cell of its feature."""
    if kind == "gap":
        return as_number(found["number"]) if is_missing(cell) else 0.0
    if is_missing(cell):
        return as_number(found["missing"] or "0")
    if kind == "value":
        return as_number(found["number"]) * same_value(cell, found["value"])
    if kind == "values":
        return among_values(found["points"], cell)
    if kind == "levels":
        inner = re.split(", | and ", found["inner"]) if found["inner"] else []
        levels = [found["first"], *inner, found["last"]]
        place = next(i for i, level in enumerate(levels) if same_value(cell, level))
        return as_number(found["number"]) * place / (len(levels) - 1)
    if kind == "bent":
        points = re.split("; (?:at|from) ", found["points"])
        pairs = [point.split(": ") for point in points]
        x, y = zip(*((as_number(a), as_number(b)) for a, b in pairs), strict=True)
        return np.interp(cell, x, y)
    number = as_number(found["number"])
    low, high = as_number(found["low"]), as_number(found["high"])
    if kind == "unit":
        return number * (np.clip(cell, low, high) - low) / as_number(found["per"])
    return number * np.clip((cell - low) / (high - low), 0, 1)


def same_value(cell, value):
    if isinstance(cell, str):
        return cell == value
    return cell == as_number(value)


def among_values(points, cell):
    first, *others = points.split("; ")
    pairs = [first.rsplit(": ", 1)] + [point.rsplit(" ", 1) for point in others]
    numbers = {value: as_number(number) for value, number in pairs}
    return numbers.get(str(cell), numbers.get("any other", 0.0))


def fits(conditions, sample, is_given):
    """How far an exception, or a rule of the user, applies."""
    memberships = [met(words, sample) for words in conditions]
    measured = [share for share in memberships if share is not None]
    if is_given:
        return float(len(measured) == len(conditions) and all(measured))
    if not measured:
        return 0.0
    return math.prod(measured) ** (len(conditions) / len(measured))


def met(words, sample):
    """How far a condition is met, None where it was not measured."""
    value = re.fullmatch(r"(.+) is (.+)", words)
    between = re.fullmatch(rf"(.+) ({NUMBER}) to ({NUMBER})", words)
    side = re.fullmatch(
        rf"(.+) (?:below|above) ({NUMBER}) \(wholly from ({NUMBER}) (down|on)\)", words
    )
    included = re.fullmatch(rf"(.+?) ({NUMBER}) or (above|below)", words)
    feature = next(m for m in (value, side, between, included) if m)[1]
    cell = sample[feature]
    if is_missing(cell):
        return None
    if value:
        return float(same_value(cell, value[2]))
    if included:
        sign = 1 if included[3] == "above" else -1
        return float(sign * (cell - as_number(included[2])) >= 0)
    half, center = as_number((side or between)[2]), as_number((side or between)[3])
    if side:
        is_beyond = cell <= center if side[4] == "down" else cell >= center
        return 1.0 if is_beyond else 2 ** -(((cell - center) / (half - center)) ** 2)
    low, high = half, center
    return 2 ** -(((cell - (low + high) / 2) / ((high - low) / 2)) ** 2)
