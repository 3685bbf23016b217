"""``mltsk fit``: a model from a data set of the catalog or from a file, and how good it is on unseen samples."""

from dataclasses import replace
from enum import StrEnum
from math import isfinite
from time import perf_counter
from typing import Annotated, Any

import typer
from typer import Option

import mltsk

from ..exceptions import InputError
from ..files import check_target
from ..limits import read_json
from .later import inputs, np
from .output import LOWER, aligned, label_table, metric_table, noted_warnings, working
from .tables import (
    WISH_HELP,
    WISHES,
    Cost,
    Data,
    check_cost,
    reads_table,
    threshold_wish,
)

Coupling = StrEnum(
    "Coupling", ["none", "laplacian", "signed", "shift", "precision", "ridge"]
)
Order = StrEnum("Order", {"zero": "0", "one": "1", "auto": "auto"})
Preset = StrEnum("Preset", ["default", "paper"])
Scale = StrEnum(
    "Scale",
    [
        "auto",
        "quantile",
        "triangles",
        "trapezoids",
        "standard",
        "minmax",
        "unit",
        "none",
    ],
)

FLAGS = {
    "n_rules": "rules",
    "max_statements": "statements",
    "max_conditions": "conditions",
}  # where they differ from parameters
ORDER_HELP = "What an exception says: 0, a shift; 1, slopes as well.  [default: auto]"
RULES_HELP = (
    "Number of exceptions to the general rule; 0 for none.  [default: auto; paper: 3]"
)
OWN_EXAMPLE = '[{"age": [60, null], "sex": "f"}]'
OWN_HELP = f"Rules of your own, a JSON file such as {OWN_EXAMPLE}."
REACH_HELP = "How far an exception reaches.  [default: auto; paper: 1]"
SHORT_HELP = (
    "At most this many conditions per exception of a short model.  [default: 5]"
)
STATEMENTS_HELP = "Shorten to at most this many statements per label."


def _number(which: str, help: str, kind: type = float) -> Any:
    """An option that takes "auto" or a number, which has to be "from 0 up" or "above 0"."""

    def parse(text: str) -> float | str:
        if text == "auto":
            return text
        try:
            number = kind(text)
        except ValueError:
            name = "whole number" if kind is int else "number"
            raise typer.BadParameter(
                f"{text!r} is neither a {name} nor 'auto'"
            ) from None
        if not isfinite(number) or number < 0 or (number == 0 and which == "above 0"):
            raise typer.BadParameter(f"{text} is not a number {which}")
        return number

    return Option(parser=parse, metavar="NUMBER|auto", help=help)


@reads_table
def fit(
    data: Data,
    out: Annotated[
        str,
        Option(
            "--out", "-o", metavar="FILE", help="Where to write the model (….skops)."
        ),
    ],
    said: dict[str, Any],
    preset: Annotated[
        Preset, Option(help="'paper' runs what the paper's authors run.")
    ] = Preset.default,
    rules: Annotated[str | None, _number("from 0 up", RULES_HELP, int)] = None,
    own_rules: Annotated[str | None, Option(metavar="FILE", help=OWN_HELP)] = None,
    order: Annotated[Order | None, Option(help=ORDER_HELP)] = None,
    statements: Annotated[
        int | None, Option(min=1, metavar="N", help=STATEMENTS_HELP)
    ] = None,
    conditions: Annotated[
        int | None, Option(min=1, metavar="N", help=SHORT_HELP)
    ] = None,
    width_scale: Annotated[str | None, _number("above 0", REACH_HELP)] = None,
    ridge: Annotated[
        str | None, _number("above 0", "Weight of the ridge.  [default: auto]")
    ] = None,
    coupling: Annotated[
        Coupling | None, Option(help="How labels are coupled.  [default: none]")
    ] = None,
    coupling_weight: Annotated[
        str | None, _number("from 0 up", "Its weight.  [default: auto]")
    ] = None,
    threshold: Annotated[
        str | None,
        Option(parser=threshold_wish, metavar=WISHES, help=WISH_HELP.format(0.5)),
    ] = None,
    cost: Cost = None,
    scale: Annotated[
        Scale | None, Option(help="Scale of the features.  [default: auto]")
    ] = None,
    correlation_weight: Annotated[
        float | None, Option(min=0, help="α of the paper.  [default: 1]")
    ] = None,
    l1_weight: Annotated[
        float | None, Option(min=0, help="β of the paper.  [default: 0.1]")
    ] = None,
    init_ridge: Annotated[
        float | None, Option(min=0, help="γ of the paper.  [default: 1]")
    ] = None,
) -> None:
    """Fit a model, say how good it is, and write it to a file.

    What is "auto" is chosen by leave-one-out, and the printed metrics are honest: every sample is scored as if it had
    not been there. Columns of a file are read as `mltsk columns` reports them, and the report is printed if something
    was decided that you may want to check. A missing cell of a label means that it was not observed. The model file
    holds the rules, names, and what each column is; `predict`, `evaluate` and `rules` read it. An existing file is
    replaced when the new one is complete.

    \b
    Examples:
      mltsk fit yeast --out yeast.skops
      mltsk fit patients.csv --labels 4 --statements 12 --out patients.skops
      mltsk fit patients.csv --labels "asthma,gout,\\"fever, high\\"" --drop ward --out patients.skops
      mltsk fit visits.xlsx --label-column diagnoses --ordinal "stage: 1 < 2 < 3" --out visits.skops
      mltsk fit emotions --rules 100 --order 0 --threshold f1 --out emotions.skops
      mltsk fit patients.csv --labels 4 --threshold cost --cost 1,5 --out patients.skops
      mltsk fit patients.csv --labels 4 --own-rules rules.json --out patients.skops
      mltsk fit emotions --preset paper --rules 3 --width-scale 100 --out paper.skops
    """
    check_cost(threshold, cost)
    both = {"n_rules": rules, "width_scale": width_scale, "threshold": threshold}
    paper = {
        "correlation_weight": correlation_weight,
        "l1_weight": l1_weight,
        "init_ridge": init_ridge,
    }
    ours: dict[str, Any] = {
        "order": order,
        "ridge": ridge,
        "scale": scale,
        "cost": cost,
        "coupling": coupling,
    }
    ours |= {
        "coupling_weight": coupling_weight,
        "max_statements": statements,
        "max_conditions": conditions,
    }
    ours["own_rules"] = own_rules and read_rules(own_rules)
    own, other = (paper, ours) if preset is Preset.paper else (ours, paper)
    given = options(preset, both | own, other)
    check_target(out)  # fail before the work, not after it
    table = inputs.open_data(data, said)
    if inputs.is_table(data) and not table.columns.is_plain:
        typer.echo(f"{table.columns}\n")
    model, X, info = fitted(table, data, preset, given)
    told = summary(
        model, table, X, info, out
    )  # before the file is written: what fails leaves none behind
    kept = {
        name: said[name]
        for name in ("label_column", "separator")
        if said["label_column"]
    }
    kept |= (
        {"labels": said["labels"]} if "=" in (said["labels"] or "") else {}
    )  # words that mean yes
    mltsk.save(
        model,
        out,
        info=replace(
            info,
            reading=kept | ({"missing": said["missing"]} if said["missing"] else {}),
        ),
    )
    typer.echo(told)


def read_rules(path: str) -> Any:
    """Rules of the user's own, from a JSON file."""
    try:
        return read_json(path)
    except InputError:
        raise
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise InputError(
            f"No rules can be read from {path}: {why}; give a JSON file such as {OWN_EXAMPLE}."
        ) from error


def options(
    preset: Preset, own: dict[str, Any], other: dict[str, Any]
) -> dict[str, Any]:
    """The parameters that were given; one that the preset does not have is a sentence."""
    if strange := [name for name, value in other.items() if value is not None]:
        flag = f"--{FLAGS.get(strange[0], strange[0]).replace('_', '-')}"
        only = Preset.default if preset is Preset.paper else Preset.paper
        raise InputError(
            f"{flag} is an option of --preset {only.value} alone: leave it out."
        )
    words = {"none": None, "0": 0, "1": 1}
    return {
        name: words.get(v, v) if isinstance(v, str) else v
        for name, v in own.items()
        if v is not None
    }


def fitted(
    table: Any, data: str, preset: Preset, given: dict[str, Any]
) -> tuple[Any, Any, Any]:
    """A model with the names of a table, the features as it takes them, and what its file says about it."""
    params, categories, X = dict(given), {}, inputs.sparse_rows(table.X)
    knowledge = {"rules": params.pop("own_rules")} if "own_rules" in params else {}
    if preset is Preset.paper:  # catalog sets in the codes of their publishers
        dataset = table.dataset() if inputs.is_table(data) else mltsk.load_dataset(data)
        inputs.check_complete(X := dataset.X, table.feature_names, data)
        categories = {
            n: names
            for n, names in zip(table.feature_names, dataset.categories, strict=True)
            if names
        }
    X = table.X if X is None else X
    model: Any = (
        mltsk.PaperMLTSK if preset is Preset.paper else mltsk.MLTSKClassifier
    )(**params)
    start = perf_counter()
    try:
        with noted_warnings(), working(f"fitting {_shape(table)}"):
            model.fit(X, table.Y, **knowledge)
    except ValueError as error:  # what scikit-learn and we say about parameters and data: its first line
        raise InputError(str(error).splitlines()[0]) from error
    model = inputs.with_feature_names(model, table.feature_names)
    how: dict[str, Any] = {
        "samples": len(table),
        "seconds": round(perf_counter() - start, 3),
    }
    how |= {"preset": preset.value, "options": given}
    names = {
        "feature_names": table.feature_names,
        "label_names": table.label_names,
        "ids": tuple(table.ids.columns),
    }
    return (
        model,
        X,
        inputs.ModelInfo(
            table.name, **names, categories=categories, fitted=how, kinds=table.kinds
        ),
    )


def summary(model: Any, table: Any, X: Any, info: Any, out: str) -> str:
    """The data, the model's size, what was chosen, and honest metrics."""
    observed = table.Y.notna().to_numpy()
    each = f"{table.Y.to_numpy().sum(axis=1).mean():.2f} per sample"
    each = (
        each
        if observed.all()
        else f"{1 - observed.mean():.0%} of their cells not observed"
    )
    data = ("data", f"{table.name}: {_shape(table)}, {each}")
    if info.fitted["preset"] == "default":
        told = _model(model)
    else:
        distinct = (
            f"distinctness {model.rule_distinctness_:.2g} (0 all the same, 1 distinct)"
        )
        told = [
            ("model", f"{len(model.centers_)} rules, {distinct}; {model.n_iter_} steps")
        ]
        weights = f"correlations {model.correlation_weight:.3g}, L1 {model.l1_weight:.3g}, start {model.init_ridge:.3g}"
        told.append(("weights", weights))
    lines = [data, *told, ("time", f"{info.fitted['seconds']:.2f} s"), ("file", out)]
    return f"{aligned(lines)}\n\n{_results(model, table, X)}"


def _shape(table: Any) -> str:
    features, labels = (
        inputs.plural(len(table.feature_names), "feature"),
        inputs.plural(len(table.label_names), "label"),
    )
    return f"{len(table):,} samples, {features}, {labels}"


def _model(model: Any) -> list[tuple[str, str]]:
    """Size, and what leave-one-out chose."""
    parts = [f"general rule of {(model.general_coef_ != 0).any(axis=1).sum():,} terms"]
    if model.n_rules_:
        what = "slopes of their own" if model.order_ else "a shift each"
        parts.append(f"{model.n_rules_:,} exceptions of order {model.order_} ({what})")
    else:
        parts.append(
            "no exceptions: the table needs none"
            if model.n_rules == "auto"
            else "no exceptions, as asked"
        )
    low, high = model.n_statements_.min(), model.n_statements_.max()
    parts.append(
        f"{high:,} numbers per label"
        if low == high
        else f"{low:,} to {high:,} numbers per label"
    )
    used = {"ridge": "ridge"}
    if model.n_rules_:
        used |= {"n_rules": "rules", "order": "order", "width_scale": "width scale"}
    if model.coupling:
        used["coupling_weight"] = "coupling weight"
    automatic = {
        name: word
        for name, word in used.items()
        if isinstance(getattr(model, name), str)
    }
    chosen = [
        f"{word} {getattr(model, f'{name}_'):.3g}" for name, word in automatic.items()
    ]
    error = f"mean squared error {model.loo_error_:.4f}"
    return [
        ("model", "; ".join(parts)),
        ("leave-one-out", f"chose {', '.join(chosen) or 'nothing'}; {error}"),
    ]


def _results(model: Any, table: Any, X: Any) -> str:
    """Metrics next to those of base rates, overall and per label."""
    Y, title = (
        table.Y.to_numpy(),
        "leave-one-out: every row scored as if it had not been there",
    )
    if getattr(model, "max_statements", None):
        title = "five folds: every row scored by terms that were chosen without it"
    if hasattr(model, "loo_scores_"):
        scores, guesses = model.loo_scores_, model.loo_scores_ >= model.thresholds_
        if len(scores) < len(Y):
            Y, title = (
                Y[model.loo_rows_],
                f"{title} (of {len(Y):,} rows {len(scores):,}, evenly spread)",
            )
    else:
        scores, guesses = inputs.outputs_of(model, X)
        title = "on the rows that the model was fitted on: no estimate for new ones"
    with noted_warnings():
        found = {"model": mltsk.evaluate(Y, scores, predictions=guesses)}
        found["base rates"] = mltsk.evaluate(
            Y, np.broadcast_to(np.nanmean(Y, axis=0), Y.shape)
        )
        by_label = mltsk.evaluate(Y, scores, predictions=guesses, per_label=True)
    columns = (
        ("prevalence", "AP", "AUC")
        if not np.isnan(Y).any()
        else ("observed", "prevalence", "AP", "AUC")
    )
    labels = label_table(by_label.set_axis(table.label_names), columns)
    overall = [
        name for name in ("AP", *LOWER) if not np.isnan(found["model"][name])
    ]  # of one label nothing is ranked
    return f"{title}\n\n{labels}\n\nAP of base rates is the prevalence, AUC 0.5\n\n{metric_table(found, overall)}"
