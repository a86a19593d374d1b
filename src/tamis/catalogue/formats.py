"""The formats of files that tables are read from; `tamis.read` reads them."""

from __future__ import annotations

FORMATS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".svm": "svm",
    ".libsvm": "svm",
    ".svmlight": "svm",
    ".basket": "basket",
    ".sav": "sav",
    ".zsav": "sav",
    ".dta": "dta",
    ".sas7bdat": "sas",
    ".xlsx": "excel",
    ".xlsm": "excel",
    ".xlsb": "excel",
    ".xls": "excel",
    ".ods": "excel",
}
"""File extensions and their formats; csv, tsv, svm and basket files may be gzipped."""
SPARSE = ("svm", "basket")
"""Formats of records of 0 and 1, which `tamis.read.read_binary` reads."""


DESCRIPTIONS = {
    "croissant": "croissant.json",
    "datapackage": "datapackage.json",
    "card": "README.md",
}
"""Kinds of descriptions and their files; `tamis.verification.descriptions` writes them."""
RULE_FORMATS = (
    *("arules", "mlxtend", "apriori", "sklearn", "j48", "part", "jrip", "c5", "rulefit"),
    "if-then",
)
"""Tools whose rules are read; `tamis.rules.imported` has a parser for each."""
