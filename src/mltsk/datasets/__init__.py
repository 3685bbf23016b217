"""Data: the catalog of the paper's data sets, own files, downloads, and synthetic data with known rules.

`load_*` and `read_*` never use the network, `fetch_*` may, and `make_*` invents.
"""

from .arff import read_arff, read_label_xml
from .catalog import Entry, catalog
from .convert import content_digest, git_blob_id
from .dataset import Dataset, category_values
from .delimited import read_csv, read_parquet
from .download import FetchError
from .fetch import fetch_dataset
from .load import DatasetStatus, list_datasets, load_dataset, read_file, read_table
from .mat import read_mat
from .npz import read_npz, write_npz
from .synthetic import SyntheticRules, make_multilabel_rules
from .table import Table, split_labels

__all__ = [
    "Dataset",
    "DatasetStatus",
    "Entry",
    "FetchError",
    "SyntheticRules",
    "Table",
    "catalog",
    "category_values",
    "content_digest",
    "fetch_dataset",
    "git_blob_id",
    "list_datasets",
    "load_dataset",
    "make_multilabel_rules",
    "read_arff",
    "read_csv",
    "read_file",
    "read_label_xml",
    "read_mat",
    "read_npz",
    "read_parquet",
    "read_table",
    "split_labels",
    "write_npz",
]
