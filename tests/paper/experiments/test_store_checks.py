"""Stores of strangers: refused with a sentence before anything of them is used."""

import json
import sqlite3
import time
from contextlib import closing

import pytest

from mltsk.exceptions import InputError
from mltsk.paper.experiments.reproduce import take_over
from mltsk.paper.experiments.store import FILE, Cell, Outcome, Row, Store, canonical
from mltsk.paper.experiments.store_checks import (
    MAX_REPORT_PAIRS,
    check_schema,
    checked_description,
    plain_data,
    time_limit,
)
from mltsk.paper.report.experiment import write_report

PATH = "x/../../../notes"
FAR_TOO_LONG = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) "
ROWS = (Row({"C": 1.0}, (0.5, 0.1, 0.2, 0.3, 0.4, 0.0)),)


def description(**changes):
    return {
        "protocols": ["paper"],
        "seeds": [0],
        "folds": 5,
        "n_folds": 5,
        "inner_folds": 3,
        "convention": "paper",
        "datasets": {"toy": {"title": "Toy", "samples": 20, "grid": "paper"}},
        "methods": {"br": {"title": "BR", "grid": {"C": [1.0]}, "settings": 1}},
        "missing": {},
        "versions": {"numpy": "2"},
        "grid": "paper",
        "command": "mltsk reproduce",
        "created": "",
        "machine": "",
    } | changes


def make_store(folder, described=None, rows=ROWS, device="cpu", **changes):
    """A store with one cell whose key is right, whatever it is called."""
    cell = Cell(
        **{
            "kind": "grid",
            "protocol": "paper",
            "dataset": "toy",
            "method": "br",
            "seed": 0,
            "fold": 0,
        }
        | changes
    )
    with Store.open(folder, create=True) as store:
        store.describe(description() if described is None else described)
        store.add(cell, Outcome(rows), {"device": device})
    return folder


def tamper(folder, script):
    with closing(sqlite3.connect(folder / FILE, isolation_level=None)) as connection:
        connection.executescript(script)


def files_of(folder):
    return {
        path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }


def refusal(folder):
    """The sentence with which the store of a folder is refused, read and taken over."""
    before = files_of(folder.parent)
    with pytest.raises(InputError) as error, Store.open(folder) as store:
        write_report(store.results(), folder)
    with pytest.raises(InputError):
        take_over(folder.parent / "mine", folder)
    assert files_of(folder.parent) == before
    sentence = str(error.value)
    assert sentence.isprintable()
    return sentence


SCHEMAS = {
    "a recursive view for a table": (
        "ALTER TABLE score RENAME TO old; CREATE VIEW score AS "
        f"{FAR_TOO_LONG} SELECT '' AS cell, n AS setting, '' AS chosen_by, 0 AS AP, "
        "0 AS HL, 0 AS OE, 0 AS RL, 0 AS CV, 0 AS tied FROM r"
    ),
    "another view": "CREATE VIEW v AS SELECT 1",
    "a trigger": "CREATE TRIGGER t AFTER INSERT ON cell BEGIN DELETE FROM cell; END",
    "a virtual table": "CREATE VIRTUAL TABLE words USING fts5(text)",
    "another table": "CREATE TABLE other (a)",
    "an index": "CREATE INDEX i ON cell (dataset)",
    "one column more": "ALTER TABLE cell ADD COLUMN more TEXT",
    "one column less": "ALTER TABLE cell DROP COLUMN error",
    "a computed column": (
        "ALTER TABLE setting ADD COLUMN c TEXT AS (hex(zeroblob(400000000)))"
    ),
    "no table of studies": "DROP TABLE study",
}


@pytest.mark.parametrize("script", SCHEMAS.values(), ids=SCHEMAS)
def test_check_schema_refuses_whatever_is_not_ours(tmp_path, script):
    folder = make_store(tmp_path / "stranger")
    try:
        tamper(folder, script)
    except sqlite3.OperationalError as error:  # no such module: fts5
        pytest.skip(str(error))
    start = time.monotonic()
    assert "none of ours (it" in refusal(folder)
    assert time.monotonic() - start < 20


def test_open_to_write_refuses_triggers_of_strangers(tmp_path):
    folder = make_store(tmp_path / "stranger")
    tamper(folder, SCHEMAS["a trigger"])
    with (
        pytest.raises(InputError, match="it has a trigger 't'"),
        Store.open(folder, create=True),
    ):
        pass


def test_check_schema_knows_a_store_that_is_being_made():
    with closing(sqlite3.connect(":memory:")) as connection:
        check_schema(connection, complete=False)
        with pytest.raises(sqlite3.DatabaseError, match="it has no table run"):
            check_schema(connection, complete=True)


NAMES = {
    "protocol": {"protocol": PATH},
    "dataset": {"dataset": PATH},
    "dots": {"dataset": ".."},
    "terminal": {"dataset": "\x1b[2J"},
    "method": {"method": PATH},
    "kind": {"kind": "view"},
    "seed": {"seed": -7},
    "fold": {"fold": 2**62},
    "device": {"device": "\x1b[2J"},
}


@pytest.mark.parametrize("changes", NAMES.values(), ids=NAMES)
def test_check_cell_refuses_names_that_no_run_has(tmp_path, changes):
    protocols = [changes.get("protocol", "paper")]
    described = description(protocols=protocols)
    assert "of ours" in refusal(make_store(tmp_path / "stranger", described, **changes))


def test_report_of_a_path_for_a_protocol_writes_no_file(tmp_path):
    described = description(protocols=[PATH])
    folder = make_store(tmp_path / "stranger", described)
    assert "'protocols.0' of its description" in refusal(folder)


def test_results_of_a_sound_store_of_a_stranger_become_a_report(tmp_path):
    folder = make_store(tmp_path / "stranger")
    with Store.open(folder) as store:
        paths = write_report(store.results(), tmp_path / "report")
    assert paths[0] == tmp_path / "report" / "index.html"
    assert take_over(tmp_path / "mine", folder) == 1
    assert take_over(tmp_path / "mine", folder) == 0


UPDATES = {
    "status": "UPDATE cell SET status = 'half'",
    "when": "UPDATE cell SET \"when\" = 'once'",
    "seconds": "UPDATE cell SET cpu_seconds = 9e999",
    "key": "UPDATE cell SET seed = 5",
    "details": "UPDATE cell SET details = '[' || details",
    "versions": "UPDATE cell SET versions = '{'",
    "score": "UPDATE score SET AP = 9e999",
    "chosen_by": "UPDATE score SET chosen_by = 'luck'",
    "setting": "UPDATE setting SET text = '[1]'",
    "spaces": "UPDATE setting SET text = '{ }'",
    "settings": "PRAGMA foreign_keys = OFF; UPDATE score SET setting = 99",
}


@pytest.mark.parametrize("script", UPDATES.values(), ids=UPDATES)
def test_results_refuse_rows_that_no_run_writes(tmp_path, script):
    folder = make_store(tmp_path / "stranger")
    tamper(folder, script)
    assert "is damaged" in refusal(folder)


@pytest.mark.parametrize(
    "changes",
    [
        {"protocols": []},
        {"protocols": ["paper", "paper"]},
        {"protocols": "paper"},
        {"n_folds": "5"},
        {"n_folds": 10**30},
        {"seeds": []},
        {"datasets": {}},
        {"methods": {}},
        {"convention": "none"},
        {"datasets": {PATH: {}}},
        {"datasets": {"toy": {"title": 3}}},
        {"datasets": {"toy": {"title": "x" * 10_000}}},
        {"datasets": {"toy": {"samples": 10**30}}},
        {"methods": {"\x1b[2J": {}}},
        {"methods": {"br": {"grid": [1]}}},
        {"planned": [["paper"]]},
        {"missing": {PATH: ""}},
        {
            "datasets": {f"d{i}": {} for i in range(200)},
            "methods": {f"m{i}": {} for i in range(MAX_REPORT_PAIRS // 200 + 1)},
        },
    ],
    ids=str,
)
def test_checked_description_refuses_what_no_report_can_show(changes):
    checked_description(canonical(description()))
    with pytest.raises(sqlite3.DatabaseError):
        checked_description(canonical(description(**changes)))


def test_plain_data_spells_out_what_a_terminal_would_obey():
    data = {"\x1b": ["\x9b2J", 1.5, None]}
    assert plain_data(json.dumps(data)) == {r"\x1b": [r"\x9b2J", 1.5, None]}


@pytest.mark.parametrize("text", ["[" * 10**5, "[" * 99 + "]" * 99, "9" * 5000, "{"])
def test_plain_data_refuses_deep_and_long_things(text):
    with pytest.raises(sqlite3.DatabaseError, match="no JSON of ours"):
        plain_data(text)


def test_check_sizes_asks_before_rows_are_read(tmp_path, monkeypatch):
    rows = tuple(Row({"C": i}, (0.5, 0, 0, 0, 0, 0)) for i in range(5000))
    folder = make_store(tmp_path / "stranger", rows=rows)
    monkeypatch.setenv("MLTSK_MEMORY", "2M")
    assert "would take more than 2 MiB" in refusal(folder)
    monkeypatch.setenv("MLTSK_MEMORY", "100K")
    assert "would take more than" in refusal(folder)
    monkeypatch.setenv("MLTSK_MEMORY", "20M")
    with Store.open(folder) as store:
        assert len(store.results().scores) == 5000


def test_check_sizes_counts_what_json_becomes(tmp_path, monkeypatch):
    folder = make_store(tmp_path / "stranger", description(more=[[]] * 200_000))
    monkeypatch.setenv("MLTSK_MEMORY", "8M")
    assert "would take more than 8 MiB" in refusal(folder)


def test_time_limit_ends_what_takes_forever(tmp_path):
    folder = make_store(tmp_path)
    with (
        closing(sqlite3.connect(":memory:")) as connection,
        pytest.raises(InputError, match="was not read in 0 seconds"),
        time_limit(connection, folder / FILE, seconds=0.2),
    ):
        connection.execute(f"{FAR_TOO_LONG} SELECT count(*) FROM r").fetchone()


def test_open_to_read_leaves_a_folder_as_it_is(tmp_path):
    folder = make_store(tmp_path / "stranger")
    before = files_of(tmp_path)
    with Store.open(folder) as store:
        store.results()
        assert files_of(tmp_path) == before
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            store.describe({})
    assert files_of(tmp_path) == before


def test_open_refuses_journals_that_lead_elsewhere(tmp_path):
    folder = make_store(tmp_path / "stranger")
    journal = folder / f"{FILE}-journal"
    journal.write_bytes(b"x" * 600)
    assert "-journal is no file of ours" in refusal(folder)
    journal.unlink()
    (tmp_path / "notes").write_text("mine")
    (folder / f"{FILE}-wal").symlink_to(tmp_path / "notes")
    assert "-wal is no file of ours" in refusal(folder)


def test_write_report_refuses_results_without_a_description(tmp_path):
    with Store.open(tmp_path, create=True) as store:
        store.add(Cell("grid", "paper", "toy", "br", 0, 0), Outcome(ROWS), {})
        with pytest.raises(InputError, match="do not say of which run they are"):
            write_report(store.results(), tmp_path)


def test_write_report_refuses_studies_that_cannot_be_drawn(tmp_path):
    folder = make_store(tmp_path / "stranger")
    cell = Cell("study", "", "toy", "rules", seed=0, fold=-1)
    with Store.open(folder, create=True) as store:
        store.add(cell, Outcome(study={"values": "none"}), {})
    with Store.open(folder) as store:
        results = store.results()
    with pytest.raises(InputError, match="The stored study 'rules' cannot be drawn"):
        write_report(results, tmp_path / "report")
    assert not (tmp_path / "report").exists()
