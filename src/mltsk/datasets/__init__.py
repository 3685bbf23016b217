"""Data: the catalog of the paper's data sets, files, downloads, synthetic data.

`load_*` and `read_*` never use the network, `fetch_*` may, and `make_*` invents.
"""

from .arff import read_arff, read_label_xml
from .dataset import Dataset, category_values
from .fetch import FetchError, fetch_dataset
from .load import Entry, catalog, content_digest, list_datasets, load_dataset
from .mat import read_mat
from .npz import read_npz, write_npz
from .synthetic import SyntheticRules, make_multilabel_rules

__all__ = [
    "Dataset",
    "Entry",
    "FetchError",
    "SyntheticRules",
    "catalog",
    "category_values",
    "content_digest",
    "fetch_dataset",
    "list_datasets",
    "load_dataset",
    "make_multilabel_rules",
    "read_arff",
    "read_label_xml",
    "read_mat",
    "read_npz",
    "write_npz",
]
