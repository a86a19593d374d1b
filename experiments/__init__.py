"""The papers' tables and figures next to what tamis gives on the same data.

::

    python -m experiments [jafer|zhang|fletcher|all] --out DIR [--data DIR] [--quick]

Each paper is a module here with ``run(data, store, quick) -> Paper``, named in
`experiments.__main__.PAPERS`. What it uses:

``Data``
    ``data.path("pima.csv.gz")`` and ``data.digest("pima.csv.gz")``.
``Store``
    ``store.piece("jafer/pima-c45", settings, work)`` gives what ``work()`` returned (anything
    JSON can hold) and keeps it; called again with the same settings, even in a later run, it
    does not repeat the work. Put seeds and ``data.digest(...)`` into the settings.
``Cell``
    One printed value next to ours: ``Cell("Table 4", row, column, printed="74.875", ours=74.8752,
    tolerance=0.5, reason="...")``. Its verdict is `equal` (to the printed digit), `within`
    (the tolerance) or `differs`, and then the best-known reason is given. A `Cell` of
    words, such as a subset of features, is equal or differs; `features(...)` puts these in order.
``Grid``, ``Figure``, ``Section``, ``Paper``
    A table of ours that the paper does not have, an SVG from `experiments.charts` or
    `tamis.charts`, a part of a page, and a whole page. Cells of one section are shown as one
    table for each place, rows and columns in the order of their first mention.
"""
