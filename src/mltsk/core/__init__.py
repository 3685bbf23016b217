"""The mathematics of ML-TSK FS: plain typed functions and frozen dataclasses on arrays.

Nothing in here imports scikit-learn, pandas, torch or dask; for torch tensors, `arrays` finds functions of torch. Rows
are samples everywhere (the paper is transposed); equation numbers in the docstrings are the paper's.
"""
