"""Tables of users: what each column is, labels that were not always observed, a report.

`read_table` reads files of many formats and data frames. It decides by simple rules
(`kinds`), which its report shows and the user can overrule.
"""

from .read import read_table
from .report import ColumnReport, ColumnSummary, TableError
from .table import DataTable

__all__ = ["ColumnReport", "ColumnSummary", "DataTable", "TableError", "read_table"]
