"""``mltsk fit``: a model from a data set of the catalog or from a file."""

from collections.abc import Callable
from enum import StrEnum
from math import isfinite
from typing import Annotated, Any

import typer

from .output import aligned, noted_warnings
from .progress import timed, working

Coupling = StrEnum("Coupling", ["laplacian", "signed", "shift", "precision", "ridge", "paper", "none"])
Scale = StrEnum("Scale", ["auto", "quantile", "standard", "minmax", "unit", "none"])
Preset = StrEnum("Preset", ["default", "paper"])
Start = StrEnum("Start", ["spread", "random"])


def number_or(word: str, *, zero: bool = True) -> Callable[[str], float | str]:
    """A parser for options that take one word or a number, 0 or more, or more than 0."""

    def parse(text: str) -> float | str:
        try:
            number = 1.0 if text == word else float(text)
        except ValueError:
            raise typer.BadParameter(f"{text!r} is neither a number nor {word!r}") from None
        if not (isfinite(number) and (number > 0 or (zero and number == 0))):
            raise typer.BadParameter(f"{text} is not a number {'from 0 up' if zero else 'above 0'}")
        return word if text == word else number

    return parse


def fit(
    data: Annotated[
        str, typer.Argument(metavar="DATA", help="A name of the catalog, or a CSV, Parquet, ARFF, MATLAB or NPZ file.")
    ],
    out: Annotated[str, typer.Option("--out", "-o", metavar="FILE", help="Where to write the model (….skops).")],
    labels: Annotated[
        str | None,
        typer.Option(
            "--labels",
            metavar="COLUMNS",
            help="Label columns of a file: how many there are at its end (negative: at its start), or their names with "
            "commas between (quote a name that holds one), or a MULAN XML file. ARFF and NPZ files may say it "
            "themselves.",
        ),
    ] = None,
    rules: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Number of rules.  [default: 20; in the paper preset 3]")
    ] = None,
    preset: Annotated[Preset, typer.Option(help="'paper' runs what the paper's authors run.")] = Preset.default,
    width_scale: Annotated[
        str | None,
        typer.Option(
            parser=number_or("auto", zero=False),
            metavar="NUMBER|auto",
            help="How far a rule reaches.  [default: auto, shared by two fifths of the rules]",
        ),
    ] = None,
    correlation_weight: Annotated[
        str | None,
        typer.Option(
            parser=number_or("loo"),
            metavar="NUMBER|loo",
            help="Weight of the label coupling.  [default: loo, leave-one-out]",
        ),
    ] = None,
    l1_weight: Annotated[
        str | None,
        typer.Option(
            parser=number_or("auto"),
            metavar="NUMBER|auto",
            help="Weight of the L1 penalty; more gives shorter rules.  [default: auto]",
        ),
    ] = None,
    ridge: Annotated[
        str | None,
        typer.Option(parser=number_or("loo"), metavar="NUMBER|loo", help="Weight of the ridge.  [default: loo]"),
    ] = None,
    coupling: Annotated[
        Coupling | None, typer.Option(help="How correlated labels share.  [default: precision]")
    ] = None,
    threshold: Annotated[
        float | None, typer.Option(metavar="SCORE", help="Score from which a label is given.  [default: 0.5]")
    ] = None,
    scale: Annotated[Scale | None, typer.Option(help="Scale on which rules are found.  [default: auto]")] = None,
    fuzzifier: Annotated[
        float | None, typer.Option(min=1.0, metavar="M", help="1 is k-means; the paper uses 2.  [default: 1]")
    ] = None,
    init: Annotated[Start | None, typer.Option(help="Start of the clustering.  [default: spread, not random]")] = None,
    seed: Annotated[int | None, typer.Option(min=0, metavar="N", help="For --init random.")] = None,
    max_conditions: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Conditions that a rule may have.  [default: all features]")
    ] = None,
    max_terms: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Terms that a label may have in a rule.  [default: all]")
    ] = None,
) -> None:
    """Fit a model and write it to a file.

    The file holds the rules, the names of features and labels, and the categories of text columns; `predict`,
    `evaluate` and `rules` read it. An existing file is replaced when the new one is complete.

    \b
    Examples:
      mltsk fit yeast --out yeast.skops
      mltsk fit patients.csv --labels 4 --rules 6 --out patients.skops
      mltsk fit patients.csv --labels "asthma,gout,\\"fever, high\\"" --out patients.skops
      mltsk fit emotions --max-conditions 5 --max-terms 10 --out short.skops
      mltsk fit emotions --preset paper --rules 3 --width-scale 100 --out paper.skops
    """
    from ..io import check_target, save

    given = {
        "n_rules": rules,
        "width_scale": width_scale,
        "correlation_weight": correlation_weight,
        "l1_weight": l1_weight,
        "ridge": ridge,
        "coupling": coupling,
        "threshold": threshold,
        "scale": scale,
        "fuzzifier": fuzzifier,
        "init": init,
        "random_state": seed,
        "max_conditions": max_conditions,
        "max_terms": max_terms,
    }
    options = {name: plain(value) for name, value in given.items() if value is not None}
    check_target(out)  # fail before the work, not after it
    dataset = open_dataset(data, labels)
    model, info = fitted(dataset, preset, options)
    save(model, out, info=info)
    typer.echo(summary(model, dataset, info, out))


def plain(value: Any) -> Any:
    """The value of an option as the classifier takes it: 'none' is None."""
    value = value.value if isinstance(value, StrEnum) else value
    return None if value == "none" else value


def open_dataset(data: str, labels: str | None) -> Any:
    """Features and labels, complete."""
    from ..datasets import load_dataset
    from ..exceptions import InputError
    from .inputs import check_complete

    dataset = load_dataset(data, labels=labels)
    if not dataset.label_names:
        raise InputError(f"{dataset.name} has no labels: name or count its label columns with --labels.")
    check_complete(dataset.X, dataset.feature_names, data)
    return dataset


def fitted(dataset: Any, preset: Preset, given: dict[str, Any]) -> tuple[Any, Any]:
    """A model with the names of the data set, and what its file says about it."""
    import numpy as np

    from ..estimators import MLTSKClassifier
    from ..io import ModelInfo

    model = paper_model(given) if preset is Preset.paper else MLTSKClassifier(**given)
    n, d, n_labels = dataset.shape
    with noted_warnings(), timed() as seconds, working(f"fitting {n:,} samples, {d:,} features, {n_labels} labels"):
        _fit(model, dataset)
        took = seconds()
    model.feature_names_in_ = np.array(dataset.feature_names, dtype=object)
    model.label_names_ = dataset.label_names
    info = ModelInfo(
        data=dataset.name,
        feature_names=dataset.feature_names,
        label_names=dataset.label_names,
        categories={name: c for name, c in zip(dataset.feature_names, dataset.categories, strict=True) if c},
        fitted={"samples": n, "seconds": round(took, 3), "preset": preset.value, "options": given},
    )
    return model, info


def paper_model(given: dict[str, Any]) -> Any:
    """The authors' method; an option that it does not have is a sentence."""
    from ..exceptions import InputError
    from ..paper import PaperMLTSK

    if strange := [name for name in given if name not in PaperMLTSK().get_params()]:
        raise InputError(f"--preset paper has no {strange[0].replace('_', ' ')}: leave the option out.")
    return PaperMLTSK(**given)


def _fit(model: Any, dataset: Any) -> None:
    from ..exceptions import InputError

    try:
        model.fit(dataset.X, dataset.Y)
    except ValueError as error:  # what scikit-learn and we say about parameters and data: its first line
        raise InputError(str(error).splitlines()[0]) from error


def summary(model: Any, dataset: Any, info: Any, out: str) -> str:
    """What was fitted, in a few lines."""
    import numpy as np

    from ..metrics import FIVE_METRICS, evaluate
    from .inputs import outputs_of

    n, d, n_labels = dataset.shape
    scores, predictions = outputs_of(model, dataset.X)
    with noted_warnings():
        metrics = evaluate(dataset.Y, scores, predictions=predictions, convention="standard")
    filled = np.count_nonzero(model.coef_) / model.coef_.size
    rows = [
        (
            "data",
            f"{dataset.name}: {n:,} samples, {d:,} features, {n_labels} labels, {dataset.cardinality:.2f} a sample",
        ),
        ("rules", f"{len(model.centers_)}, distinctness {model.rule_distinctness_:.2g} (0 all the same, 1 distinct)"),
        *_shortening(model),
        ("weights", ", ".join(_weights(model))),
        ("consequents", f"{filled:.0%} of {model.coef_.size:,} are not zero"),
        ("solver", f"{model.n_iter_} steps, {info.fitted['seconds']:.2f} s in all"),
        ("training", "  ".join(f"{name} {metrics[name]:.3f}" for name in FIVE_METRICS)),
        ("", "on the rows that the model was fitted on: no estimate for new ones"),
        ("model", out),
    ]
    return aligned(rows)


def _weights(model: Any) -> list[str]:
    """The three weights, and how those were chosen that were not given."""
    asked = {"ridge": model.ridge, "coupling": model.correlation_weight, "L1": model.l1_weight}
    used = (model.ridge_, model.correlation_weight_, model.l1_weight_)
    early = getattr(model, "objective", "") == "algorithm1"
    chosen = {} if early else {"loo": " (by leave-one-out)", "auto": " (from the noise)"}
    return [f"{name} {w:.3g}{chosen.get(given, '')}" for (name, given), w in zip(asked.items(), used, strict=True)]


def _shortening(model: Any) -> list[tuple[str, str]]:
    """What the limits have made of the rules, if there are any."""
    if not getattr(model, "simplification_", None):
        return []
    rules, conditions, terms = (model.simplification_[part] for part in ("rules", "conditions", "terms"))
    merged = f"{rules[0] - rules[1]} merged with others, " if rules[0] > rules[1] else ""
    return [
        (
            "shortened",
            f"{merged}at most {conditions[1]} conditions a rule (were {conditions[0]}) and {terms[1]} terms a label in "
            f"it (were {terms[0]})",
        )
    ]
