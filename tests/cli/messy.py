"""Twenty-one files as messy as people have them, each with traps of its own.

`python tests/cli/messy.py FOLDER` writes them, to be tried by hand.
"""

import sys
from datetime import date, timedelta
from pathlib import Path

import numpy as np

N_ROWS = 120


def patients():
    """Rows of numbers and words, and two labels that depend on them."""
    rng = np.random.default_rng(7)
    rows = []
    for i in range(N_ROWS):
        age = rng.normal(55, 12)
        weight = rng.normal(75, 11)
        rows.append(
            {
                "number": i,
                "age": age,
                "weight": weight,
                "ward": ("north", "south", "west")[i % 3],
                "gout": age + rng.normal(0, 8) > 58,
                "asthma": weight + rng.normal(0, 8) > 78,
            }
        )
    return rows


def lines(header, rows, delimiter=","):
    texts = [delimiter.join(map(str, row)) for row in [header, *rows]]
    return "\n".join(texts) + "\n"


def salaries(folder):
    """Thousands separators, currencies, units and percent signs."""
    rows = []
    for p in patients():
        salary = f'"${1000 * p["age"]:,.0f}"'
        loan = f'"{900 * p["weight"]:,.0f}"'
        weight = f"{p['weight']:.2f} lbs"
        share = f"{p['age'] / 2:.1f} %"
        rows.append([salary, loan, weight, share, int(p["gout"]), int(p["asthma"])])
    header = ["salary", "loan", "weight", "share", "gout", "asthma"]
    path = folder / "salaries.csv"
    path.write_text(lines(header, rows), encoding="utf-8")
    return path


def workbook(folder):
    """A page of remarks first, title rows, and names in merged cells."""
    import openpyxl

    book = openpyxl.Workbook()
    book.active.title = "Read me"
    book.active.append(["Patients of the three wards"])
    sheet = book.create_sheet("patients 2024")
    sheet.append(["Patients 2024"])
    sheet.append([])
    sheet.append(["Person", None, "Body", None, "Diagnoses", None])
    sheet.append(["age", "ward", "weight", "height", "gout", "asthma"])
    sheet.merge_cells("A3:B3")
    for p in patients():
        height = 1.1 * p["weight"] + p["number"] % 7
        labels = ["yes" if p[name] else "no" for name in ("gout", "asthma")]
        sheet.append([p["age"], p["ward"], p["weight"], height, *labels])
    path = folder / "workbook.xlsx"
    book.save(path)
    return path


def german(folder):
    """Windows-1252, semicolons, decimal commas, ja and nein."""
    rows = []
    for p in patients():
        age = f"{p['age']:.1f}".replace(".", ",")
        income = f"{1000 * p['weight']:,.2f}".translate(str.maketrans(",.", ".,"))
        labels = ["ja" if p[name] else "nein" for name in ("gout", "asthma")]
        rows.append([age, income, f"Stra\u00dfe {p['number'] % 3}", *labels])
    header = ["Alter", "Einkommen", "Stra\u00dfe", "Gicht", "Asthma"]
    path = folder / "german.csv"
    path.write_bytes(lines(header, rows, ";").encode("cp1252"))
    return path


def export(folder):
    """UTF-16 with tabs, rows of titles, and a remark at the end."""
    rows = []
    for p in patients():
        rows.append([f"{p['age']:.1f}", p["ward"], int(p["gout"]), int(p["asthma"])])
    text = "Export of 1 March 2024\nby the office of statistics\n"
    text += lines(["age", "ward", "gout", "asthma"], rows, "\t")
    text += "\nSource: the three wards of the hospital\t\t\t\n"
    path = folder / "export.tsv"
    path.write_bytes(text.encode("utf-16"))
    return path


def report(folder):
    """Two rows of names, units among them, and totals at the end."""
    rows = [["years", "kg", "", "0/1", "0/1"]]
    for p in patients():
        numbers = [f"{p['age']:.1f}", f"{p['weight']:.1f}"]
        rows.append([*numbers, p["ward"], int(p["gout"]), int(p["asthma"])])
    rows.append(["Total", "9000", "", "60", "50"])
    path = folder / "report.csv"
    header = ["age", "weight", "ward", "gout", "asthma"]
    path.write_text(lines(header, rows), encoding="utf-8")
    return path


def joined(folder):
    """Names that are blank or there twice, and an empty column."""
    rows = []
    for p in patients():
        numbers = [f"{p['age']:.1f}", f"{p['weight']:.1f}"]
        rows.append([p["number"], *numbers, "", int(p["gout"]), int(p["asthma"])])
    path = folder / "joined.csv"
    header = ["", "value", "value", "", "gout", "asthma"]
    path.write_text(lines(header, rows), encoding="utf-8")
    return path


def ticks(folder):
    """Boxes that are ticked or blank, also as labels."""
    rows = []
    for p in patients():
        boxes = ["x" if yes else "" for yes in (p["number"] % 4 == 0, p["gout"])]
        rows.append([f"{p['age']:.1f}", *boxes, "\u2713" if p["asthma"] else ""])
    path = folder / "ticks.csv"
    path.write_text(lines(["age", "smoker", "gout", "asthma"], rows), encoding="utf-8")
    return path


def diagnoses(folder):
    """A row per patient and diagnosis, as ICD codes."""
    rows = []
    for p in patients():
        codes = ["M10.0"] * p["gout"] + ["M10.9"] * p["gout"] + ["J45.1"] * p["asthma"]
        for code in codes or ["none"]:
            rows.append(
                [f"P{p['number']}", f"{p['age']:.1f}", f"{p['weight']:.1f}", code]
            )
    path = folder / "diagnoses.csv"
    header = ["patient", "age", "weight", "diagnosis"]
    path.write_text(lines(header, rows), encoding="utf-8")
    return path


def visits(folder):
    """Patients that repeat, limits, dates, unknown answers, and a column of lists."""
    rows = []
    for p in patients():
        crp = "<4.0" if p["number"] % 9 == 0 else f"{p['weight'] / 9:.1f}"
        names = [name for name in ("gout", "asthma") if p[name]]
        seen = "|".join(names) or "none"
        lab = (
            "unknown" if p["number"] % 10 == 0 else ("negative", "positive")[p["gout"]]
        )
        day = f"2024-{p['number'] % 12 + 1:02}-{p['number'] % 28 + 1:02}"
        rows.append([p["number"] // 3, day, f"{p['age']:.1f}", crp, lab, seen])
    path = folder / "visits.csv"
    header = ["patient", "day", "age", "crp", "lab", "diagnoses"]
    path.write_text(lines(header, rows), encoding="utf-8")
    return path


def ward(folder):
    """A line that names the delimiter, dates of birth, metres, and k.A."""
    rows = []
    for p in patients():
        born = date(2021, 6, 1) - timedelta(days=int(365.25 * p["age"]))
        seen = date(2021, 6, 1) + timedelta(days=7 * p["number"])
        crp = f"{p['weight'] / 9:.1f}".replace(".", ",")
        crp = "< 5,0" if p["number"] % 9 == 0 else crp
        crp = "k.A." if p["number"] % 17 == 0 else crp
        height = f"{p['weight'] / 45:.2f} m".replace(".", ",")
        labels = ["J" if p[name] else "N" for name in ("gout", "asthma")]
        days = [f"{day:%d.%m.%Y}" for day in (born, seen)]
        rows.append([f"{p['number']:08}", *days, crp, height, *labels])
    header = ["Fallnummer", "Geburt", "Aufnahme", "CRP", "Größe", "Gicht", "Asthma"]
    path = folder / "ward.csv"
    path.write_bytes(f"sep=;\n{lines(header, rows, ';')}".encode("cp1252"))
    return path


def cohort(folder):
    """Groups, names and units in three rows, dates of Excel, numbers as text."""
    import openpyxl

    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["Export of the cohort"])
    sheet.append(["printed:", date(2023, 7, 1)])
    sheet.append([])
    sheet.append(["Patient", None, "Body", None, "Outcome", None])
    sheet.append(["MRN", "DOB", "age", "weight", "gout", "asthma"])
    sheet.append([None, None, "years", "kg", "Y/N", "Y/N"])
    for p in patients():
        weight = p["weight"] if p["number"] % 3 else f"{p['weight']:.1f}"
        weight = "--" if p["number"] % 11 == 0 else weight
        labels = ["Y" if p[name] else "N" for name in ("gout", "asthma")]
        born = date(1950, 1, 1) + timedelta(days=p["number"])
        sheet.append([f"{p['number']:06}", born, p["age"], weight, *labels])
    sheet.append([])
    sheet.append(["Total", None, None, 75.2, 60, 50])
    sheet.append(["* values below the limit of detection are shown as reported"])
    path = folder / "cohort.xlsx"
    book.save(path)
    return path


def pages(folder):
    """Names again on every page, empty rows, capitals, remarks, and -99."""
    names = ["age", "sex", "crp", "gout", "asthma"]
    rows = []
    for p in patients():
        if p["number"] == 40:
            rows.append(names)
        if p["number"] == 60:
            rows.append([""] * len(names))
        sex = ("male", "female", "Female")[p["number"] % 3]
        crp = -99 if p["number"] % 10 == 0 else f"{p['weight'] / 9:.1f}"
        gout = f"Yes ({2015 + p['number'] % 6})" if p["gout"] else "No"
        asthma = "Checked" if p["asthma"] else "Unchecked"
        rows.append([f"{p['age']:.0f} y", sex, crp, gout, asthma])
    path = folder / "pages.csv"
    path.write_text(lines(names, rows), encoding="utf-8")
    return path


def form(folder):
    """Time stamps of a web form, titers, dip sticks, and fees with apostrophes."""
    rows = []
    for p in patients():
        i = p["number"]
        stamp = f"2024/{i % 12 + 1}/{i % 28 + 1} {i % 12 + 1}:30:05 PM GMT+1"
        titer = "<1:8" if i % 9 == 0 else f"1:{2 ** (3 + int(p['age']) % 6)}"
        stick = ("-", "+", "++", "+++")[i % 4]
        fee = f"CHF {p['weight'] * 37:,.0f}".replace(",", "'")
        labels = [("no", "yes")[p[name]] for name in ("gout", "asthma")]
        rows.append([stamp, f"{p['age']:.0f}", titer, stick, fee, *labels])
    path = folder / "form.csv"
    header = ["Timestamp", "age", "titer", "protein", "fee", "gout", "asthma"]
    path.write_text(lines(header, rows), encoding="utf-8")
    return path


def survey(folder):
    """Questions and keys below the names, choices or nothing, and ranks."""
    names = ["EndDate", "ResponseId", "Q1", "Q2", "Q3_1", "Q3_2"]
    questions = ["End Date", "Response ID", "How old?", "How often?", "- Gout", "- A"]
    rows = [questions, [f'"{{""ImportId"":""{name}""}}"' for name in names]]
    for p in patients():
        i = p["number"]
        often = ("never", "sometimes", "often")[i % 3]
        choices = ["Gout" if p["gout"] else "", "Asthma" if p["asthma"] else ""]
        stamp = f"2024-03-{i % 28 + 1:02} 10:{i % 60:02}:11"
        rows.append([stamp, f"R_{i:05x}", f"{p['age']:.0f}", often, *choices])
    path = folder / "survey.csv"
    path.write_text(lines(names, rows), encoding="utf-8-sig")
    return path


def clinic(folder):
    """Names of rows as R writes them, spaces between cells, in any order."""
    rows = ['"age" "sex" "crp" "gout" "asthma"']
    for p in sorted(patients(), key=lambda p: p["weight"]):
        sex = '"male"' if p["number"] % 2 else '"female"'
        crp = "NA" if p["number"] % 7 == 0 else f"{p['weight'] / 9:.3f}"
        labels = [str(p[name]).upper() for name in ("gout", "asthma")]
        name = f'"patient {p["number"]}"'
        rows.append(" ".join([name, f"{p['age']:.2f}", sex, crp, *labels]))
    path = folder / "clinic.txt"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def polish(folder):
    """Windows-1250, points between thousands, months by name, and flags."""
    rows = []
    months = ("sty", "maja", "gru")
    for p in patients():
        i = p["number"]
        income = f"{80 * p['weight']:,.0f}".replace(",", ".")
        crp = f"{p['weight'] / 9:.1f}".replace(".", ",")
        crp += " H" if p["weight"] > 85 else ""
        day = f"{i % 28 + 1} {months[i % 3]} 2023"
        labels = ["Tak" if p[name] else "Nie" for name in ("gout", "asthma")]
        age = f"{p['age']:.0f} lat"
        sex = "mężczyzna" if i % 2 else "kobieta"
        rows.append([age, sex, income, crp, day, *labels])
    header = ["Wiek", "Płeć", "Dochód", "CRP", "Przyjęcie", "Dna", "Astma"]
    path = folder / "polish.csv"
    path.write_bytes(lines(header, rows, ";").encode("cp1250"))
    return path


def wards(folder):
    """Cells merged downwards, a number for no value, and codes before answers."""
    import openpyxl

    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["ward", "subject_id", "age", "weight", "gout", "asthma"])
    for k, p in enumerate(sorted(patients(), key=lambda p: p["ward"])):
        weight = -999 if p["number"] % 11 == 0 else round(p["weight"], 1)
        labels = ["1. yes" if p[name] else "0. no" for name in ("gout", "asthma")]
        ward = p["ward"] if k % 10 == 0 else None
        sheet.append([ward, 500 + p["number"] // 2, p["age"], weight, *labels])
    for first in range(2, 2 + N_ROWS, 10):
        sheet.merge_cells(f"A{first}:A{first + 9}")
    path = folder / "wards.xlsx"
    book.save(path)
    return path


def trial(folder):
    """UTF-16 with remarks over two lines, SUBJID, scores out of ten, and Refused."""
    rows = [["SUBJID", "REMARK", "PAIN", "SEEN", "SMOKER", "CRP", "WARD", "GOUT", "A"]]
    for p in patients():
        i = p["number"]
        remark = f'"seen, and sent home\nwith a letter, no. {i}"'
        seen = f"{i % 12 + 1}:{i % 60:02} {'AM' if i % 2 else 'PM'}"
        smoker = "Refused" if i % 8 == 0 else ("Yes", "No")[i % 2]
        crp = f"{p['weight'] / 9:.1f}" + " (H)" * (p["weight"] > 85)
        ward = "unknown" if i % 10 == 0 else p["ward"]
        labels = ["POS" if p["gout"] else "NEG", f"{int(p['asthma'])}"]
        cells = [i // 2 + 100, remark, f"{int(p['age']) // 9}/10", seen, smoker]
        rows.append([*cells, crp, ward, *labels])
    path = folder / "trial.txt"
    path.write_bytes(lines(rows[0], rows[1:], "\t").encode("utf-16"))
    return path


def board(folder):
    """An Excel of Germany: WAHR, #NV, sums in the middle, limits in words, hours."""
    rows = []
    for k, p in enumerate(sorted(patients(), key=lambda p: p["ward"])):
        i = p["number"]
        crp = f"{p['weight'] / 9:.1f}".replace(".", ",")
        crp = "unter 5,0" if i % 9 == 0 else crp
        crp = "#NV" if i % 10 == 0 else crp
        share = f"{p['age'] / 2:.1f} %".replace(".", ",")
        labels = ["WAHR" if p[name] else "FALSCH" for name in ("gout", "asthma")]
        seen = f"{i % 12 + 7}h{i % 60:02}"
        rows.append([p["ward"], f"{p['age']:.0f} Jahre", crp, share, seen, *labels])
        if k % 40 == 39:
            rows.append([f"{p['ward']} Ergebnis", "", "2211,5", "", "", "", ""])
    header = ["Station", "Alter", "CRP", "Anteil", "Uhrzeit", "Gicht", "Asthma"]
    path = folder / "board.csv"
    path.write_bytes(lines(header, rows, ";").replace("\n", "\r\n").encode("cp1252"))
    return path


def forms(folder):
    """Two files put together, with a mark within; feet, boxes, scales, short rows."""
    header = ["age", "height", "pain", "consent", "findings", "remark"]
    rows = []
    for p in patients():
        i = p["number"]
        height = f'{5 + i % 2}\' {i % 12}""'
        pain = ("1 - none", "2", "3", "4", "5 - worst")[int(p["age"]) % 5]
        names = [name for name in ("gout", "asthma") if p[name]]
        seen = (" / " if i % 2 else "; ").join(names) or "none"
        box = "[x]" if i % 3 else "[ ]"
        cells = [f"{p['age']:.0f}歳", f'"{height}"', pain, box, seen]
        rows.append(cells if i % 11 else [*cells, "called back"])
        if i == 59:
            rows.append([f"\ufeff{header[0]}", *header[1:]])
    path = folder / "forms.csv"
    path.write_text(lines(header, rows), encoding="utf-8-sig")
    return path


def register(folder):
    """Another table below, formulas without a value, and dates as Excel counts days."""
    import openpyxl

    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["date of birth", "age", "weight", "twice", "gout", "asthma"])
    for row, p in enumerate(patients(), 2):
        born = int(44000 - 365.25 * p["age"])
        labels = [p[name] for name in ("gout", "asthma")]
        sheet.append([born, p["age"], p["weight"], f"=2*C{row}", *labels])
    sheet.append([])
    sheet.append(["Wards", None])
    sheet.append(["ward", "beds", "rooms", None])
    for ward, beds in (("north", 12), ("south", 14), ("west", 9)):
        sheet.append([ward, beds, beds // 3])
    path = folder / "register.xlsx"
    book.save(path)
    return path


FILES = (
    salaries,
    workbook,
    german,
    export,
    report,
    joined,
    ticks,
    diagnoses,
    visits,
    ward,
    cohort,
    pages,
    form,
    survey,
    clinic,
    polish,
    wards,
    trial,
    board,
    forms,
    register,
)

if __name__ == "__main__":
    for make in FILES:
        print(make(Path(sys.argv[1])))
