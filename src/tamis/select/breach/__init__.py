"""Choose columns that predict the target as well as all do and reveal less of the sensitive one."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tamis.select.breach.selector import REPEATS as REPEATS
    from tamis.select.breach.selector import BreachSelector as BreachSelector
    from tamis.select.breach.selector import rate_candidates as rate_candidates

__all__ = ["REPEATS", "BreachSelector", "rate_candidates"]


def __getattr__(name: str) -> Any:
    """Import the estimator on first use: `candidate` does not need scikit-learn, slow to load."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from tamis.select.breach import selector

    return getattr(selector, name)
