"""Data: the catalog of the paper's data sets, benchmark files, downloads, and synthetic data with known rules.

`load_*` and `read_*` never use the network, `fetch_*` may, and `make_*` invents.
"""

from .arff import read_arff, read_label_xml
from .catalog import Entry, catalog, content_digest, git_blob_id
from .dataset import Dataset, category_values
from .fetch import FetchError, fetch_dataset
from .load import DatasetStatus, list_datasets, load_dataset
from .mat import read_mat
from .npz import read_npz, write_npz
from .synthetic import SyntheticRules, make_multilabel_rules
from .table import NumericTable, split_labels

__all__ = ["Dataset", "DatasetStatus", "Entry", "FetchError", "catalog", "fetch_dataset", "list_datasets"]
__all__ += ["NumericTable", "load_dataset", "read_arff", "read_label_xml", "read_mat", "read_npz"]
__all__ += ["SyntheticRules", "make_multilabel_rules", "split_labels", "write_npz"]
__all__ += ["category_values", "content_digest", "git_blob_id"]
