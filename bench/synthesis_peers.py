"""A peer draws a table: `python synthesis_peers.py LIBRARY ALGORITHM EPSILON DELTA IN OUT`.

Runs in an environment of its own, so it imports nothing of tamis. IN has whole numbers from 0 in
every column; beside it, IN.json has how many values each column may have.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from pathlib import Path

warnings.filterwarnings("ignore")


def opendp(algorithm: str, epsilon: float, delta: float, source: Path, out: Path) -> None:
    import opendp.prelude as dp
    import polars as pl
    from opendp.extras import mbi

    dp.enable_features("contrib")
    bins = json.loads(Path(f"{source}.json").read_text())
    kinds = {"aim": mbi.AIM, "mst": mbi.MST}
    keys = {name: list(range(most)) for name, most in bins.items()}
    # The budget in zCDP is the largest that is worth epsilon at delta, as in tamis. The parts that
    # it is split into may add up to the last digit more, which is refused: then a little less.
    most_rho = _rho(epsilon, delta)
    for tries in range(50):
        rho = most_rho * (1 - 1e-6 * tries)
        context = dp.Context.compositor(
            data=pl.scan_csv(source),
            privacy_unit=dp.unit_of(contributions=1),
            privacy_loss=dp.loss_of(rho=rho),
        )
        query = context.query(rho=rho).select(*bins)
        try:
            table = query.contingency_table(keys=keys, algorithm=kinds[algorithm]()).release()
        except dp.OpenDPException as error:
            if "insufficient budget" not in str(error):
                raise
            continue
        # By its default, "round", mbi 1.1.0 ranks the rows of a group in their order for every
        # column, so that columns which depend on the same one go together: on six columns of
        # Adult a model that is .038 off in pairs gave rows .093 off, and .049 by "sample".
        table.synthesize(method="sample").select(*bins).write_csv(out)
        return
    raise SystemExit("OpenDP refused every budget for a rounding")


def _rho(epsilon: float, delta: float) -> float:
    """By bisection on OpenDP's own conversion."""
    import opendp.prelude as dp

    def worth(rho: float) -> float:
        space = dp.vector_domain(dp.atom_domain(T=int)), dp.l2_distance(T=float)
        noise = space >> dp.m.then_gaussian(scale=(1 / (2 * rho)) ** 0.5)
        return float(dp.c.make_zCDP_to_approxDP(noise).map(1.0).epsilon(delta))

    low, high = 0.0, epsilon
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if worth(middle) <= epsilon else (low, middle)
    return low


def smartnoise(algorithm: str, epsilon: float, delta: float, source: Path, out: Path) -> None:
    import pandas as pd
    from snsynth import Synthesizer

    frame = pd.read_csv(source)
    synthesiser = Synthesizer.create(algorithm, epsilon=epsilon, delta=delta)
    synthesiser.fit(frame, categorical_columns=list(frame.columns), preprocessor_eps=0.0)
    synthesiser.sample(len(frame)).to_csv(out, index=False)


if __name__ == "__main__":
    library, algorithm, epsilon, delta, source, out = sys.argv[1:]
    draw = {"opendp": opendp, "smartnoise": smartnoise}[library]
    start = time.process_time()
    draw(algorithm, float(epsilon), float(delta), Path(source), Path(out))
    print(json.dumps({"seconds": time.process_time() - start}))
