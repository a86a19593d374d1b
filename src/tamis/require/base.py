"""`Requirement`: one promise about equivalence classes, and everything that others need of it.

A requirement is about *groups* of people with equal values in the columns that an attacker may
know. Counts of them are a `ClassCounts`, whether made in memory, on a lattice or by an engine. From
it a requirement computes what each group reaches (`figures`) and what all reach (`reached`), and
compares that with its bound under the one rounding rule of `tamis.figures`. Searches, scorecard,
manifest, pages and command line use the object, so that a new requirement is one class.

Nothing heavy is imported here: ``--help`` lists the options of every requirement.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from tamis.figures import exceeds, falls_short, reaches
from tamis.option import Option
from tamis.stated import sentence

if TYPE_CHECKING:
    from tamis.arrays import Bools, Floats
    from tamis.require.counts import ClassCounts

Side = Literal["at_least", "at_most", "below"]
Unit = Literal["people", "rows"]
_SHORT: dict[Side, Callable[[Any, float], Any]] = {
    "at_least": falls_short,
    "at_most": exceeds,
    "below": reaches,
}


promised = partial(Option, section="Promises")
"""An option that asks for a requirement."""


@dataclass(frozen=True)
class Requirement:
    """A requirement on equivalence classes.

    A subclass has a field for each of its `options`, under the same name; giving the first of them
    asks for the requirement. Command line, configuration, `tamis serve` and `Settings` are made
    from them.

    Parameters
    ----------
    columns : tuple of str
        The columns that define the classes, which an attacker may know; empty: all columns given.
    secret : str, optional
        The sensitive column that it is about.
    attacker : str
        The name of the attacker whom it guards against; empty for the default one.
    linked : bool
        Whether a release links the rows of each person, so that people are compared by all rows.
    """

    columns: tuple[str, ...] = field(default=(), kw_only=True)
    secret: str | None = field(default=None, kw_only=True)
    attacker: str = field(default="", kw_only=True)
    linked: bool = field(default=False, kw_only=True)

    key: ClassVar[str]
    """Its name in manifests."""
    options: ClassVar[tuple[Option, ...]]
    about_secret: ClassVar[bool] = False
    """Whether it is about the sensitive values of groups."""
    of_risk: ClassVar[bool] = False
    """Whether it limits a risk of finding people."""
    of_sizes: ClassVar[bool] = False
    """Whether it depends on the size of the smallest group alone."""
    by_group: ClassVar[bool] = True
    """Whether each group meets it or not; otherwise only all groups together do."""
    monotone: ClassVar[bool] = True
    """Whether splitting groups can only break it, never mend it; searches prune by this."""

    def __post_init__(self) -> None:
        for option in self.options:
            option.check(getattr(self, option.dest))

    @property
    def name(self) -> str:
        """The option that asks for it."""
        return self.options[0].dest

    @property
    def label(self) -> str:
        """Its name with attacker and secret, to tell equal requirements of several apart."""
        of = f" of {self.secret}" if self.attacker and self.secret else ""
        return f"{self.name}{of}, {self.attacker}" if self.attacker else self.name

    @property
    def side(self) -> Side:
        """The side of `bound` that figures must be on."""
        return "at_most"

    @property
    def bound(self) -> float:
        """The bound that figures are compared with."""
        return float(getattr(self, self.name))

    @property
    def fewest_people(self) -> int:
        """A lower bound: no smaller group meets it."""
        return 1

    @property
    def enough_people(self) -> int:
        """A size from which all groups meet it whatever they contain; 0 if there is none."""
        return 0

    @property
    def fewest_in_all(self) -> int:
        """Of fewer people in all, no groups keep it."""
        return self.fewest_people

    @property
    def fewest_values(self) -> int:
        """A group with fewer values of the secret never keeps it."""
        return 1

    def figures(self, counts: ClassCounts) -> Floats:
        """The figure that each group reaches."""
        raise NotImplementedError

    def reached(self, counts: ClassCounts) -> float:
        """The figure of the worst group, or of all groups together."""
        return self.worst(self.figures(counts))

    def worst(self, figures: Any) -> float:
        """The worst of several figures."""
        import numpy as np

        worst_figure: float = (np.min if self.side == "at_least" else np.max)(figures).item()
        return worst_figure

    def is_short(self, figures: Any) -> Any:
        """Whether a figure, or each of an array, does not meet the bound."""
        return _SHORT[self.side](figures, self.bound)

    def breaking(self, counts: ClassCounts) -> Bools:
        """Mask of the groups that do not meet it."""
        broken: Bools = self.is_short(self.figures(counts))
        return broken

    def infeasible(self, counts: ClassCounts, breaking: Bools) -> Bools | bool:
        """Mask of the breaking groups of which no part could meet it, however they are split."""
        return False

    def rows_lost(self, counts: ClassCounts, figures: Floats) -> Floats | int:
        """Lower bound of the rows of each group that any split loses, if each row is a person."""
        return 0

    def kernel_bounds(self) -> Mapping[str, Any] | None:
        """Bounds for the kernel of local recoding, see `tamis.coarsen.local.PartBounds`.

        `None` if the kernel cannot check it; then groups are enlarged until it is met.
        """
        return None

    def on_sample(self, share: float) -> Mapping[str, Any]:
        """The options to ask of a sample with that share of the rows."""
        return {option.dest: getattr(self, option.dest) for option in self.options}

    def lacking(self, figure: float) -> str:
        """What was required and what was reached instead, in words."""
        raise NotImplementedError

    def out_of_reach(self, everybody: ClassCounts, unit: Unit, *, all_stay: bool) -> str:
        """Why no release of these people keeps it, in words; empty where one might.

        `everybody` is all of them as one group, as whoever knows nothing sees them. Parts of it
        have no more people and no more values. Where all stay and splitting groups only breaks it,
        what one group of all does not keep, no others do; but if a person has several rows, they
        may share out the secrets of a person.
        """
        people = everybody.people.item()
        if self.fewest_in_all > people:
            return self._beyond(self.fewest_in_all, f"{unit} alike", people)
        values = everybody.distinct_values().item() if self.about_secret else self.fewest_values
        if self.fewest_values > values:
            return self._beyond(self.fewest_values, f"values of {self.secret} in a group", values)
        splits_mend = self.about_secret and everybody.mean_risk is not None
        figure = self.reached(everybody)
        if not all_stay or not self.monotone or splits_mend or not self.is_short(figure):
            return ""
        of = f" of {self.secret}" if self.about_secret else ""
        return f"even with all {unit} in one group, {self.lacking(figure)}{of}"

    def _beyond(self, needed: int, what: str, there: int) -> str:
        """How many are needed of what there are too few; shares are one by so many."""
        asked = getattr(self, self.name)
        best = f"at most {there:,}" if isinstance(asked, int) else f"at least 1/{there:,}"
        asked = f"{asked:,}" if isinstance(asked, int) else f"{asked:g}"
        return (
            f"{self.name} = {asked} needs {needed:,} {what}, and the table has {there:,}; "
            f"{self.name} can be {best}"
        )

    def named(self, words: str) -> str:
        """Words about it, prefixed by the attacker's name if there is one."""
        return f"{self.attacker}: {words}" if self.attacker else words

    def why_left_out(self, secret: str) -> str:
        """Why a group that breaks it is suppressed, in words."""
        raise NotImplementedError

    def to_dict(self, unit: Unit) -> dict[str, Any]:
        """Its entry in a manifest or recipe, with its sentence but without a measured value."""
        whom = {"attacker": self.attacker} if self.attacker else {}
        about = {"column": self.secret} if self.about_secret else {}
        known: dict[str, Any] = {"columns": sorted(self.columns), "unit": unit}
        known |= {"linked": True} if self.linked else {}
        entry = {"key": self.key, **whom, **about, **known, **self.stated()}
        return {**entry, "claim": sentence(entry)}

    def stated(self) -> dict[str, Any]:
        """Its figures in an entry."""
        return {self.side: self.bound}

    def about(self, columns: Iterable[str], secret: str | None = None, *, number: bool) -> Self:
        """The requirement bound to some columns and, if it is about one, to a secret.

        `number` says whether the secret is numeric, so that its values have an order.
        """
        return replace(
            self, columns=tuple(columns), secret=secret if self.about_secret else self.secret
        )


@dataclass(frozen=True)
class Requirements(Sequence[Requirement]):
    """All requirements on equivalence classes, in the order in which failures are reported.

    Examples
    --------
    >>> from tamis.require import requirements
    >>> asked = requirements(k=5, l=3)
    >>> asked.k, asked.of_secrets, [each.name for each in asked.beyond_k]
    (5, True, ['l'])
    """

    each: tuple[Requirement, ...] = ()

    def __getitem__(self, place: Any) -> Any:
        return self.each[place]

    def __len__(self) -> int:
        return len(self.each)

    def __iter__(self) -> Iterator[Requirement]:
        return iter(self.each)

    @property
    def k(self) -> int:
        """The smallest size of a group allowed by the requirements on sizes."""
        return max((each.fewest_people for each in self.each if each.of_sizes), default=1)

    @property
    def fewest_people(self) -> int:
        """A lower bound: no smaller group meets all of them."""
        return max((each.fewest_people for each in self.each), default=1)

    @property
    def several(self) -> bool:
        """Whether there are named attackers, who may know different columns."""
        return any(each.attacker for each in self.each)

    @property
    def of_secrets(self) -> bool:
        """Whether any of them is about a sensitive column."""
        return any(each.about_secret for each in self.each)

    @property
    def beyond_k(self) -> Requirements:
        """Those that do not depend on the size of the smallest group alone."""
        return Requirements(tuple(each for each in self.each if not each.of_sizes))

    @property
    def of_sizes(self) -> Requirements:
        """Those that depend on the size of the smallest group alone."""
        return Requirements(tuple(each for each in self.each if each.of_sizes))

    @property
    def about_secrets(self) -> Requirements:
        """Those about a sensitive column."""
        return Requirements(tuple(each for each in self.each if each.about_secret))

    @property
    def of_risks(self) -> Requirements:
        """Those about a risk of finding people."""
        return Requirements(tuple(each for each in self.each if each.of_risk))

    @property
    def by_group(self) -> Requirements:
        """Those that each group meets or breaks by itself."""
        return Requirements(tuple(each for each in self.each if each.by_group))

    @property
    def of_all(self) -> Requirements:
        """Those that only all groups together meet or break."""
        return Requirements(tuple(each for each in self.each if not each.by_group))

    @property
    def monotone(self) -> Requirements:
        """The monotone ones: where one fails, a search can skip all finer splits."""
        return Requirements(tuple(each for each in self.each if each.monotone))

    def about(self, columns: Iterable[str], secret: str | None, *, number: bool) -> Requirements:
        """All of them bound to some columns and a secret."""
        known = tuple(columns)
        return Requirements(tuple(each.about(known, secret, number=number) for each in self.each))

    @property
    def views(self) -> dict[tuple[str, ...], Requirements]:
        """Requirements by the columns that they are about."""
        return self._by(lambda each: each.columns)

    @property
    def by_secret(self) -> dict[str | None, Requirements]:
        """Requirements by the secret that they are about; those about none come first, by `None`.

        So sizes are checked first, since secrets take longer to count.
        """
        return Requirements(tuple(sorted(self.each, key=lambda each: each.about_secret)))._by(
            lambda each: each.secret if each.about_secret else None
        )

    def _by(self, key: Callable[[Requirement], Any]) -> dict[Any, Requirements]:
        by_key: dict[Any, list[Requirement]] = {}
        for each in self.each:
            by_key.setdefault(key(each), []).append(each)
        return {name: Requirements(tuple(requirements)) for name, requirements in by_key.items()}

    def to_dicts(self, unit: Unit) -> list[dict[str, Any]]:
        """Their entries in a manifest or recipe."""
        return [each.to_dict(unit) for each in self.each]

    def met(self, counts: ClassCounts) -> bool:
        """Whether all are met; sizes are checked first, since secrets take longer to count."""
        cheap_first = sorted(self.each, key=lambda each: each.about_secret)
        return not any(each.is_short(each.reached(counts)) for each in cheap_first)

    def breaking(self, counts: ClassCounts) -> Bools:
        """Mask of the groups that break some requirement on single groups."""
        broken: Any = counts.people < 1
        for each in self.by_group:
            broken = broken | each.breaking(counts)
        return broken  # type: ignore[no-any-return]

    def reached(self, counts: ClassCounts) -> dict[str, float]:
        """The figure reached for each requirement, by name."""
        return {each.name: each.reached(counts) for each in self.each}

    def lacking(self, reached: Mapping[str, float]) -> str:
        """The failure of the first requirement that is not met, in words; empty if all are."""
        short = (each for each in self.each if each.is_short(reached[each.name]))
        return next((each.lacking(reached[each.name]) for each in short), "")

    def short_of(self, counts: ClassCounts) -> str:
        """Like `lacking`, from counts."""
        return self.lacking(self.reached(counts))
