"""Messages that are safe to print, and packages that may not be installed."""

import json

import pytest

from mltsk.exceptions import InputError, optional, printable


def test_printable_spells_out_what_a_terminal_would_obey():
    assert printable("flu\x1b[31m\n") == r"flu\x1b[31m\n"
    assert printable("Größe 5 µm") == "Größe 5 µm"


def test_input_error_is_printable():
    assert str(InputError("Column '\a' is empty.")) == r"Column '\x07' is empty."


def test_optional_imports_a_module_that_is_there():
    assert optional("json", "report") is json


def test_optional_says_the_command_that_installs_a_module():
    with pytest.raises(ImportError) as missing:
        optional("no_such_module_of_any_name", "report")
    assert str(missing.value) == 'pip install "mltsk[report]"'
