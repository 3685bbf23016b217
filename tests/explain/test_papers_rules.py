"""Rules in the form of (14): whoever reads them gets the scores of the model."""

import json
import re
import shutil
import subprocess
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from mltsk import MLTSKClassifier, PaperMLTSK
from mltsk.datasets import make_multilabel_rules
from mltsk.exceptions import InputError
from mltsk.explain import fuzzy_rules
from mltsk.explain.plot_fuzzy import rules_figure

DATA = make_multilabel_rules(n_samples=80, n_features=3, n_labels=2, random_state=0)


def table():
    """Features in units far from 0 to 1, one of them constant, and odd names."""
    X, Y = DATA.frames()
    X = X * [10.0, 0.1, 1000.0] + [2000.0, 0.0, -500.0]
    X.columns = ["year", "blood_pressure", "in $"]
    X["constant"] = 7.0
    Y.columns = ["gout", "high fever"]
    return X, Y


@pytest.fixture(scope="module", params=["program", "text"])
def model(request):
    model = PaperMLTSK(
        2, width_scale=10.0, correlation_weight=0.01, formulas=request.param
    )
    return model.fit(*table())


def scores_of_a_reader(content, X):
    """Scores by (2), (5), (6), (14) and (16) from nothing but the printed numbers."""
    firing = []
    lines = []
    for rule in content["rules"]:
        products = np.ones(len(X))
        for part in rule["if"]:
            distance = X[part["feature"]].to_numpy() - part["center"]
            products *= np.exp(-(distance**2) / (2 * part["width"] ** 2))
        firing.append(products)
        consequents = []
        for line in rule["then"]:
            f = np.full(len(X), line["intercept"])
            for feature, p in line["terms"]:
                f += p * X[feature].to_numpy()
            consequents.append(f)
        lines.append(np.stack(consequents, axis=1))
    shares = np.stack(firing) / np.sum(firing, axis=0)
    return np.einsum("kn,knl->nl", shares, np.stack(lines))


def test_to_dict_gives_a_reader_the_scores_in_the_units_of_the_data(model):
    X, _ = table()
    content = json.loads(model.rules_.to_json())
    scores = model.decision_function(X) + model.thresholds_
    assert_allclose(scores_of_a_reader(content, X), scores, atol=1e-9)


def test_on_paper_scale_has_the_numbers_of_the_fit(model):
    rules = model.rules_.on_paper_scale
    assert_allclose(rules.centers, model.centers_)
    assert_allclose(2 * rules.widths**2, model.widths_)
    assert_allclose(rules.intercepts, model.coef_[:, 0])
    assert_allclose(rules.slopes, model.coef_[:, 1:])
    assert "0 is the least of a feature" in str(rules)


def test_text_has_gaussians_and_lines_and_no_thresholds_of_features(model):
    text = model.rules_.to_text()
    assert "IF year is Gauss(200" in text
    assert "f_gout = " in text
    assert "·'in $'" in text
    assert "f_'high fever' = " in text
    assert "above about" not in text
    verb = "reaches" if model.formulas == "program" else "is above"
    assert f"where its score {verb} 0.5." in " ".join(text.split())


def test_top_says_how_much_it_leaves_out(model):
    text = model.rules_.to_text(top=1, label="gout")
    assert "and 3 more conditions" in text
    assert "smaller terms" in text
    assert "fever" not in text


@pytest.mark.parametrize("numbers", [{"top": 0}, {"top": -1}, {"digits": 0}])
@pytest.mark.parametrize("form", ["to_text", "to_latex"])
def test_rules_of_no_conditions_or_digits_are_refused(model, form, numbers):
    (parameter,) = numbers
    with pytest.raises(InputError, match=f"{parameter} must be a whole number of at"):
        getattr(model.rules_, form)(**numbers)


def test_to_frame_has_every_number(model):
    rules = model.rules_
    conditions = rules.to_frame("if")
    lines = rules.to_frame()
    assert conditions.columns.tolist() == ["rule", "feature", "center", "width"]
    assert_allclose(conditions["center"], rules.centers.ravel())
    fever = lines[(lines["rule"] == 2) & (lines["label"] == "high fever")]
    numbers = [rules.intercepts[1, 1], *rules.slopes[1, :, 1]]
    assert_allclose(fever["coefficient"], numbers)
    with pytest.raises(InputError, match="'if' or 'then'"):
        rules.to_frame("both")


def test_to_latex_escapes_names_and_closes_what_it_opens(model):
    latex = model.rules_.to_latex()
    assert r"\text{blood\_pressure} \text{ is } \mathrm{Gauss}(" in latex
    assert r"\text{in \$}" in latex
    assert latex.count("{") == latex.count("}")
    assert latex.startswith("{\\allowdisplaybreaks\n\\begin{align*}\n")
    assert latex.endswith("\\end{align*}\n}\n")


def test_to_latex_fills_lines_and_ends_them_before_the_margin():
    data = make_multilabel_rules(n_samples=80, n_features=30, random_state=0)
    fit = PaperMLTSK(2, width_scale=10.0, correlation_weight=0.01).fit(*data.frames())
    lines = fit.rules_.to_latex().split("\\\\\n")
    as_printed = [re.sub(r"\\[a-z]+|[{}^_&,\s]", "", line) for line in lines]
    assert max(map(len, as_printed)) <= 66
    # of lines that go on on the next one
    going_on = [
        length
        for length, following in pairwise(map(len, as_printed))
        if length > 20 and following
    ]
    assert np.median(going_on) > 35


@pytest.mark.skipif(
    shutil.which("pdflatex") is None, reason="no pdflatex on this machine"
)
def test_to_latex_compiles_and_stays_within_the_margins(model, tmp_path):
    (tmp_path / "rules.tex").write_text(model.rules_.to_latex(), encoding="utf-8")
    document = (
        "\\documentclass{article}\\usepackage{amsmath}\n"
        "\\begin{document}\\input{rules.tex}\\end{document}\n"
    )
    (tmp_path / "paper.tex").write_text(document, encoding="utf-8")
    done = subprocess.run(
        ["pdflatex", "-halt-on-error", "paper.tex"],
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:]
    assert b"Overfull" not in done.stdout


def scores_of_a_text(text, X):
    """`scores_of_a_reader`, for one who has nothing but the printed page."""
    page = re.sub(r"\s+", " ", text)
    rules = []
    for rule in page.split("Rule ")[1:]:
        conditions, lines = rule.split(" THEN ")
        gaussians = []
        for feature, center, width in re.findall(
            r"(?:IF|and) (.+?) is Gauss\((\S+), (\S+)\)", conditions
        ):
            gaussians.append(
                {"feature": feature, "center": float(center), "width": float(width)}
            )
        consequents = []
        for line in re.split(r"f_\S+(?: fever')? = ", lines)[1:]:
            terms = re.findall(r"([+-]) (\S+?)·('.+?'|\S+)", line)
            consequents.append(
                {
                    "intercept": float(line.split()[0]),
                    "terms": [
                        (name.strip("'"), float(sign + p)) for sign, p, name in terms
                    ],
                }
            )
        rules.append({"if": gaussians, "then": consequents})
    return scores_of_a_reader({"rules": rules}, X)


@pytest.mark.parametrize("scale", ["units", "paper"])
def test_the_text_alone_with_all_digits_is_the_whole_model(model, scale):
    X, _ = table()
    scores = model.decision_function(X) + model.thresholds_
    rules = model.rules_
    if scale == "paper":
        rules = rules.on_paper_scale
        X = pd.DataFrame(model.scaling_.apply(X.to_numpy()), columns=X.columns)
    text = rules.to_text(digits=17)
    assert_allclose(scores_of_a_text(text, X), scores, atol=1e-9)
    assert "rounded" not in text
    assert "rounded" in rules.to_text()


def test_parts_of_the_rules_are_rules(model):
    rules = model.rules_
    assert len(rules[:1]) == 1
    assert str(rules[1]).startswith("Rule 2 — governs")
    assert rules.for_feature("year").feature_names == ("year",)
    assert rules.for_label("gout")[0].consequents[0].label == "gout"
    with pytest.raises(InputError, match="did you mean 'gout'"):
        rules.for_label("gouty")


def test_fuzzy_rules_refuses_a_system_of_another_form():
    system = MLTSKClassifier(n_rules=2).fit(DATA.X, DATA.Y).system_
    with pytest.raises(InputError, match="another form"):
        fuzzy_rules(system)


def test_rules_figure_has_a_row_per_rule_and_a_curve_per_membership(model):
    figure = rules_figure(model.rules_, top=2)
    memberships = [ax for ax in figure.axes if len(ax.lines) == 2]
    images = [ax for ax in figure.axes if ax.images]
    assert len(memberships) == 2 * 2
    assert len(images) == 2
    assert images[0].images[0].get_array().shape == (2, 5)  # labels, p0 and features
    assert model.plot.rules("gout").axes


@pytest.mark.filterwarnings("ignore::mltsk.exceptions.RuleCollapseWarning")
def test_rules_figure_of_many_labels_and_features_draws_the_largest():
    names = [f"a name that begins like others {number}" for number in range(45)]
    X = pd.DataFrame(np.random.default_rng(0).random((60, 45)), columns=names)
    Y = pd.DataFrame(X.to_numpy()[:, :22] > 0.6).add_prefix("label ")
    model = PaperMLTSK(2, width_scale=10.0, correlation_weight=0.01).fit(X, Y)
    figure = rules_figure(model.rules_, top=2)
    assert "(20 of 22 labels, 40 of 45 features)" in figure.get_suptitle()
    (drawn,) = figure.axes[2].images
    assert drawn.get_array().shape == (20, 41)
    changes = np.abs(model.rules_.on_paper_scale.slopes).sum(axis=(0, 1))
    strongest = {f"label {j}" for j in np.argsort(-changes)[:20]}
    last_row = figure.axes[5]
    assert {text.get_text() for text in last_row.get_yticklabels()} == strongest
    below = {figure.axes[k].get_xlabel() for k in (3, 4)}
    assert len(below) == 2


def test_explain_says_where_no_rule_fires():
    X, Y = table()
    model = PaperMLTSK(2, width_scale=0.1, correlation_weight=0.01).fit(X, Y)
    far = X[:1] * 1e3
    why = model.explain(far).why("gout")
    assert (why.score, why.given) == (0, False)
    assert "no rule fires" in str(why)
    assert "fits by" not in str(why)
    (reasons,) = model.explain(far).reasons()
    assert reasons["gout"].startswith("no rule fires")
