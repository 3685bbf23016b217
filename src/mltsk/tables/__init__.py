"""Tables of one's own: what each column is, labels that were not always observed, and a report on both.

`read_table` is the door; it reads files of many formats and data frames, and decides by simple rules (`columns`), which
its report shows and the caller can overrule.
"""

from .read import Table, read_table
from .report import Column, ColumnReport, TableError

__all__ = ["Column", "ColumnReport", "Table", "TableError", "read_table"]
