"""Two clinical tables as users have them: macro AP next to logistic regression, 5 folds × 2 seeds.

Our classifier takes the data frame as it is: words, missing cells, labels that were not observed for everybody.
Logistic regression needs a pipeline (median and an indicator for what is missing, one column per category) and chooses
its weight by inner folds, label by label, on observed rows. The files are pbc.csv and nhefs.csv in the folder tables of
MLTSK_DATA.
"""

import os
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
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
    found = []
    for train, test in (fold for seed in range(2) for fold in folds(len(X), seed)):
        encoder = encoding().fit(X.iloc[train])
        A, B = encoder.transform(X.iloc[train]), encoder.transform(X.iloc[test])
        ours = (
            MLTSKClassifier().fit(X.iloc[train], Y[train]).predict_proba(X.iloc[test])
        )
        for scores in (ours, logistic(A, Y[train], B)):
            each = evaluate(Y[test], scores, per_label=True)
            found.append([each["AP"].mean(), each["AUC"].mean()])
    means = np.reshape(found, (-1, 4)).mean(axis=0)
    return [name, len(X), Y.shape[1], *(f"{x:.4f}" for x in means)]


def read(folder: Path, name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Features, and labels with NaN where they were not observed."""
    frame = pd.read_csv(folder / f"{name}.csv").drop(columns=LEFT_OUT[name])
    first = frame.columns.get_loc(FIRST_LABEL[name])
    return frame.iloc[:, :first], frame.iloc[:, first:].to_numpy(float)


def encoding():
    numbers = SimpleImputer(strategy="median", add_indicator=True)
    words = OneHotEncoder(
        handle_unknown="ignore", sparse_output=False, drop="if_binary"
    )
    kinds = (
        make_column_selector(dtype_include="number"),
        make_column_selector(dtype_exclude="number"),
    )
    return make_column_transformer((numbers, kinds[0]), (words, kinds[1]))


def logistic(X, Y, X_test) -> np.ndarray:
    model = make_pipeline(
        StandardScaler(),
        LogisticRegressionCV(Cs=8, cv=5, scoring="neg_log_loss", max_iter=2000),
    )
    seen = np.isfinite(Y)
    return np.stack(
        [
            model.fit(X[s], y[s]).predict_proba(X_test)[:, 1]
            for y, s in zip(Y.T, seen.T, strict=True)
        ],
        axis=1,
    )
