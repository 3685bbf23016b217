"""For the tests of tables: a file, a column, a refused table, the real tables."""

import os
from pathlib import Path

import pandas as pd
import pytest

from mltsk import read_table
from mltsk.exceptions import InputError

DATA = os.environ.get("MLTSK_DATA", "")


@pytest.fixture
def write(tmp_path):
    """Write a file and return its path."""

    def write(content, name="toy.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.fixture
def column():
    """Read a column next to one of numbers; returns its summary and its values."""

    def read(cells, name="it", **said):
        numbers = [i % 3 + 0.5 for i in range(len(cells))]
        table = read_table(pd.DataFrame({name: cells, "x": numbers}), **said)
        values = table.X[name].tolist() if name in table.X else None
        return table.columns[0], values

    return read


@pytest.fixture
def refusal():
    """The one sentence with which a table is refused."""

    def refuse(source, labels=None, **said):
        with pytest.raises(InputError) as refused:
            read_table(source, labels, **said)
        assert "\n" not in str(refused.value)
        assert str(refused.value).endswith((".", "?"))
        return str(refused.value)

    return refuse


@pytest.fixture
def real_tables():
    folder = Path(DATA) / "tables"
    if not DATA or not folder.is_dir():
        pytest.skip("MLTSK_DATA names no folder with the real tables")
    return folder
