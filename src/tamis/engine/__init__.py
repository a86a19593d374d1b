"""The few relational questions, answered on polars-lazy, DuckDB or Spark without loading the rows.

`backend` is the only module that knows the engines; `door` turns sources into frames whose columns
are named c0 to cn; `cells`, `spread` and `pairs` ask the questions, of any engine, in narwhals.
"""
