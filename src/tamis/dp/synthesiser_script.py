"""Run by a Python that has ``opendp[mbi]``, not by tamis: bins in, bins of drawn rows out.

python synthesiser_script.py CODES.parquet DRAWN.parquet EPSILON aim|mst BINS,BINS,... ROWS_A_PERSON
"""

from __future__ import annotations

import sys


def main(source: str, result: str, epsilon: str, algorithm: str, bins: str, most: str) -> None:
    import opendp.prelude as dp
    import polars as pl
    from opendp.extras.mbi import AIM, MST

    dp.enable_features("contrib")
    codes = pl.read_parquet(source).cast(pl.Int64)
    keys = {name: list(range(int(b))) for name, b in zip(codes.columns, bins.split(","))}
    context = dp.Context.compositor(
        data=codes.lazy(),
        privacy_unit=dp.unit_of(contributions=int(most)),
        privacy_loss=dp.loss_of(epsilon=float(epsilon)),
        split_evenly_over=1,
    )
    chosen = AIM() if algorithm == "aim" else MST()
    table = context.query().contingency_table(keys=keys, algorithm=chosen).release()
    table.synthesize().select(codes.columns).write_parquet(result)


if __name__ == "__main__":
    main(*sys.argv[1:])
