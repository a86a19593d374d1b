"""Limits that authorities and statistics offices name, to be asked for by one word."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from tamis.notebook import in_short


@dataclass(frozen=True)
class Preset:
    """Limits with a name.

    Parameters
    ----------
    name : str
        As it is asked for.
    words : str
        Who names them, and what they are.
    asks : mapping of option to limit
    """

    name: str
    words: str
    asks: Mapping[str, float]

    def __repr__(self) -> str:
        return in_short(self, self.name)

    def stricter(self, name: str, given: float | None) -> float:
        """Its limit, or one that is given beside it, whichever is harder to meet.

        >>> PRESETS["ema"].stricter("max_risk", 0.2), PRESETS["office-10"].stricter("k", 20)
        (0.09, 20)
        """
        mine = self.asks[name]
        if given is None:
            return mine
        return max(mine, given) if name == "k" else min(mine, given)


def _preset(name: str, words: str, **asks: float) -> Preset:
    return Preset(name, words, MappingProxyType(asks))


EVERY = (
    _preset(
        "ema",
        "European Medicines Agency, Policy 0070: nobody is found with a chance above .09",
        max_risk=0.09,
    ),
    _preset(
        "health-canada",
        "Health Canada, public release of clinical information: nobody is found with a chance "
        "above .09",
        max_risk=0.09,
    ),
    _preset("office-3", "the least frequency that many statistics offices ask for: 3", k=3),
    _preset("office-10", "the least frequency of more careful statistics offices: 10", k=10),
)
PRESETS = {preset.name: preset for preset in EVERY}
