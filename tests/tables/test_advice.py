"""What will hurt a model, and what to do about it."""

import numpy as np
import pandas as pd
import pytest

from mltsk import read_table
from mltsk.tables.advice import MAX_NAMED_COLUMNS, advice

N_ROWS = 400


@pytest.fixture
def frame():
    """Numbers that tell something about a label, and categories that do not."""
    rng = np.random.default_rng(3)
    age = rng.normal(50, 9, N_ROWS)
    return pd.DataFrame(
        {
            "age": age,
            "ward": rng.choice(["north", "south"], N_ROWS),
            "gout": (age + rng.normal(0, 9, N_ROWS) > 52).astype(int),
        }
    )


def advised(frame, labels="gout", **said):
    return advice(read_table(frame, labels, **said))


def test_advice_is_empty_where_nothing_will_hurt(frame):
    assert advised(frame) == []


@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_advice_names_a_feature_that_tells_a_label_almost_alone(frame, noise):
    shown = frame["gout"] + noise * frame["age"]
    (sentence,) = advised(frame.assign(after=-shown))
    assert sentence.startswith("after tells gout almost alone (AUC 1.00)")
    words = frame["gout"].map({0: "discharged", 1: "treated"})
    (sentence,) = advised(frame.assign(after=words))
    assert sentence.endswith("if it is known only afterwards, --drop after.")


def test_advice_names_the_first_of_many_features_that_tell_a_label(frame):
    copies = {f"after {i}": frame["gout"] + i for i in range(200)}
    sentences = advised(frame.join(pd.DataFrame(copies)))
    assert len(sentences) == MAX_NAMED_COLUMNS + 2  # and that rows are few
    assert sentences[0].startswith("after 0 tells gout almost alone (AUC 1.00)")
    assert sentences[0].endswith('--drop "after 0".')
    assert sentences[MAX_NAMED_COLUMNS] == "195 more features tell gout almost alone."


def test_advice_names_labels_that_are_rare_constant_or_twins(frame):
    rare = np.arange(N_ROWS) < 5
    few = np.arange(N_ROWS) % 27 == 0
    labels = frame.assign(rare=rare, few=few, never=0, twin=frame["gout"])
    sentences = advised(labels, "gout,rare,few,never,twin")
    assert "rare: fewer than 10 rows of the rarer answer" in " ".join(sentences)
    assert "few: fewer than 20 rows of the rarer answer" in " ".join(sentences)
    assert "never: the same in all rows; leave the label out." in sentences
    assert any(
        sentence.startswith("twin: the same as another") for sentence in sentences
    )
    assert any("few has 15 rows of the rarer answer" in s for s in sentences)


def test_advice_tells_columns_without_a_value_from_constant_ones(frame):
    sentences = advised(frame.assign(blank=None, same=1))
    assert sentences == [
        "blank: no value in any row; left out.",
        "same: the same in every row that has a value; left out.",
    ]


def test_advice_names_labels_that_nobody_looked_at(frame):
    frame["gout"] = frame["gout"].where(np.arange(N_ROWS) % 3 == 0)
    assert "gout: not observed in most rows: who was, and why?" in advised(frame)


def test_advice_names_copies_and_identifiers_that_repeat(frame):
    frame["height"] = np.random.default_rng(1).normal(170, 9, N_ROWS)
    frame["patient"] = np.arange(N_ROWS) // 2
    copies = pd.concat([frame, frame[:9]])
    sentences = advised(copies, group=False)
    assert sentences[0].startswith("9 rows are the same as an earlier one")
    assert sentences[1].startswith("patient repeats: if its rows belong together")


def test_advice_names_columns_that_are_nearly_empty_or_constant(frame):
    frame["lab"] = frame["age"].where(np.arange(N_ROWS) % 10 == 0)
    frame["site"] = "here"
    sentences = advised(frame)
    assert "lab: missing in more than 80% of rows; --drop." in sentences
    assert "site: the same in every row that has a value; left out." in sentences


def test_advice_tells_of_numbers_that_may_mean_no_value():
    rows = [{"x": -99 if i % 9 == 0 else i / 7, "gout": i % 2} for i in range(90)]
    (sentence, *_) = advice(read_table(pd.DataFrame(rows), "gout"))
    assert sentence == (
        "x: 10 cells with -99, far from the others: --missing=-99 if that means no "
        "value."
    )
