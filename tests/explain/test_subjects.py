import pytest

from mltsk import MLTSKClassifier
from mltsk.explain.subjects import Subjects

from .conftest import CATEGORIES


def test_named_values_are_categories_or_the_only_two_numbers(make_system):
    wards = {1.0: "east", 2.0: "north", 5.0: "west"}
    assert Subjects(make_system(categories=CATEGORIES)).named_values(3) == wards
    unnamed = Subjects(make_system())
    assert unnamed.named_values(2) == {0.0: "0", 1.0: "1"}
    assert unnamed.named_values(0) == {}


def test_subjects_of_a_table_are_its_features_and_then_what_is_not_measured(table):
    subjects = Subjects(MLTSKClassifier(0).fit(*table).system_)
    assert subjects.feature_names == tuple(table[0].columns)
    assert [(subject.name, subject.kind) for subject in subjects[-2:]] == [
        ("smoker", "not measured"),
        ("albumin", "not measured"),
    ]
    assert {subjects[t].feature: t for t in subjects.gaps.values()} == subjects.gaps


def test_named_values_of_a_table_are_told_by_their_positions(table):
    subjects = Subjects(MLTSKClassifier(0).fit(*table).system_)
    smoker = {0.0: "never", 1.0: "former", 2.0: "daily", 3.0: "other"}
    assert subjects.named_values(1) == smoker
    assert subjects.named_values(2) == {0.0: "f", 1.0: "m"}


def test_percentile_of_tied_quantiles_is_their_middle(make_system, X):
    subjects = Subjects(make_system())
    share_of_smokers = X[:, 2].mean()
    middle_of_others = (1 - share_of_smokers) / 2
    assert subjects.percentile(2, 0.0) == pytest.approx(middle_of_others, abs=0.06)
