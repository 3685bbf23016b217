"""The studies by name: one for every figure, repeatable."""

import json

import pytest

from mltsk.exceptions import InputError
from mltsk.paper.experiments.studies import STUDIES


def test_studies_have_every_figure_of_the_paper_from_3_to_8():
    figures = ", ".join(study.paper for study in STUDIES.values())
    assert figures == "Fig. 3, 4, Fig. 5, Fig. 6, Fig. 7, Fig. 8"


@pytest.mark.parametrize("name", ["label-correlation", "rules"])
def test_studies_give_the_same_answer_to_the_same_arguments(name, toy, found):
    again = STUDIES[name].function(toy, grid="fast")
    assert json.loads(json.dumps(again, allow_nan=False)) == found[name]


@pytest.mark.parametrize("name", STUDIES)
def test_studies_say_what_was_used(name, found):
    assert "rows" in found[name]["note"]


def test_studies_refuse_an_unknown_grid(toy):
    with pytest.raises(InputError, match="grids"):
        STUDIES["rules"].function(toy, grid="huge")
