"""Two clinical tables as users have them: macro AP next to logistic regression.

5 folds × 2 seeds. Our classifier takes the data frame as it is: words, missing cells,
labels that were not observed for everybody. Logistic regression needs a pipeline
(median and an indicator for what is missing, one column per category) and chooses its
weight by inner folds, label by label, on observed rows. The files are pbc.csv and
nhefs.csv in the folder tables of MLTSK_DATA.
"""

import os
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.compose import (
    ColumnTransformer,
    make_column_selector,
    make_column_transformer,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegressionCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from benchmarks import Options, folds, print_table
from mltsk import MLTSKClassifier, evaluate

LEFT_OUT = {"pbc": ["patient", "stage"], "nhefs": ["seqn"]}
FIRST_LABEL = {"pbc": "ascites", "nhefs": "asthma"}  # labels go from here to the end


def run(options: Options) -> None:
    folder = Path(os.environ.get("MLTSK_DATA", "../shared/datasets")) / "tables"
    if not folder.is_dir():
        print(f"There is no folder {folder}: nothing to measure.")
        return
    warnings.simplefilter("ignore")
    print_table(
        ["table", "rows", "labels", "AP", "AUC", "AP of logistic", "AUC of logistic"],
        [measure(folder, name) for name in LEFT_OUT],
    )


def measure(folder: Path, name: str) -> list[object]:
    X, Y = read(folder, name)
    values = []
    for seed in range(2):
        for train, test in folds(len(X), seed):
            clf = MLTSKClassifier().fit(X.iloc[train], Y[train])
            ours = clf.predict_proba(X.iloc[test])
            encoder = encoding().fit(X.iloc[train])
            encoded = encoder.transform(X.iloc[train])
            theirs = logistic(encoded, Y[train], encoder.transform(X.iloc[test]))
            values.append([*macro(Y[test], ours), *macro(Y[test], theirs)])
    means = np.mean(values, axis=0)
    return [name, len(X), Y.shape[1], *(f"{mean:.4f}" for mean in means)]


def macro(Y: np.ndarray, scores: np.ndarray) -> tuple[float, float]:
    """AP and AUC, means over labels."""
    by_label = evaluate(Y, scores, per_label=True)
    return by_label["AP"].mean(), by_label["AUC"].mean()


def read(folder: Path, name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Features, and labels with NaN where they were not observed."""
    frame = pd.read_csv(folder / f"{name}.csv").drop(columns=LEFT_OUT[name])
    first = frame.columns.get_loc(FIRST_LABEL[name])
    return frame.iloc[:, :first], frame.iloc[:, first:].to_numpy(float)


def encoding() -> ColumnTransformer:
    """A table as numbers alone."""
    numbers = SimpleImputer(strategy="median", add_indicator=True)
    words = OneHotEncoder(
        handle_unknown="ignore", sparse_output=False, drop="if_binary"
    )
    return make_column_transformer(
        (numbers, make_column_selector(dtype_include="number")),
        (words, make_column_selector(dtype_exclude="number")),
    )


def logistic(X, Y, X_test) -> np.ndarray:
    """Probabilities by logistic regression, label by label on observed rows."""
    regression = LogisticRegressionCV(Cs=8, cv=5, scoring="neg_log_loss", max_iter=2000)
    model = make_pipeline(StandardScaler(), regression)
    columns = []
    for y in Y.T:
        observed = np.isfinite(y)
        model.fit(X[observed], y[observed])
        columns.append(model.predict_proba(X_test)[:, 1])
    return np.stack(columns, axis=1)
