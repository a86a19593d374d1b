"""`Requirement`: one promise about people alike, and all that anybody needs to know about it.

A requirement is asked of *groups* of people who are alike in what an attacker may know. What was
counted of them is a `ClassCounts`, whoever counted: memory, a lattice of coarser forms, an engine.
From it a requirement says what each group reaches (`figures`) and what all reach (`reached`), and
by the one rounding of `tamis.figures` whether that is enough. Searches, scorecard, manifest, pages
and command line ask the object, so that a new requirement is a class and little else.

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
"""The record of an option that asks for a requirement."""


@dataclass(frozen=True)
class Requirement:
    """Something that must hold for groups of people alike.

    A subclass has a field for each of its `options`, under the same name; the first of them is what
    asks for it. Command line, configuration, `tamis serve` and `Settings` are made from them.

    Parameters
    ----------
    columns : tuple of str
        What people are alike in: the columns that an attacker may know; none: all that are looked
        at.
    secret : str, optional
        The sensitive column that it is about.
    attacker : str
        The name of the attacker whom it guards against; empty where there is only one.
    linked : bool
        Whether a release says which rows are of one person, so that people are alike by all rows.
    """

    columns: tuple[str, ...] = field(default=(), kw_only=True)
    secret: str | None = field(default=None, kw_only=True)
    attacker: str = field(default="", kw_only=True)
    linked: bool = field(default=False, kw_only=True)

    key: ClassVar[str]
    """Its name in manifests."""
    options: ClassVar[tuple[Option, ...]]
    about_secret: ClassVar[bool] = False
    """Whether it is about the sensitive values of people alike."""
    of_risk: ClassVar[bool] = False
    """Whether it limits the chance of finding people."""
    of_sizes: ClassVar[bool] = False
    """Whether the smallest group alone decides."""
    by_group: ClassVar[bool] = True
    """Whether each group is judged by itself; else all together are."""
    monotone: ClassVar[bool] = True
    """Whether splitting groups can only break it, never mend it."""

    def __post_init__(self) -> None:
        for option in self.options:
            option.check(getattr(self, option.dest))

    @property
    def name(self) -> str:
        """The option that asks for it."""
        return self.options[0].dest

    @property
    def label(self) -> str:
        """The same where several attackers, or secrets, are asked about in the same words."""
        of = f" of {self.secret}" if self.attacker and self.secret else ""
        return f"{self.name}{of}, {self.attacker}" if self.attacker else self.name

    @property
    def side(self) -> Side:
        """On which side of `bound` figures must be."""
        return "at_most"

    @property
    def bound(self) -> float:
        """What figures are compared with."""
        return float(getattr(self, self.name))

    @property
    def fewest_people(self) -> int:
        """A group of fewer people never keeps it."""
        return 1

    @property
    def enough_people(self) -> int:
        """Groups of so many people certainly keep it; 0: there is no such number."""
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
        """What each group reaches."""
        raise NotImplementedError

    def reached(self, counts: ClassCounts) -> float:
        """What the worst group reaches, or all groups together."""
        return self.worst(self.figures(counts))

    def worst(self, figures: Any) -> float:
        """The worst of some figures: what all groups reach, given what parts of them do."""
        import numpy as np

        found: float = (np.min if self.side == "at_least" else np.max)(figures).item()
        return found

    def is_short(self, figures: Any) -> Any:
        """Whether a figure, or each of some, is not enough."""
        return _SHORT[self.side](figures, self.bound)

    def breaking(self, counts: ClassCounts) -> Bools:
        """The groups that do not keep it."""
        broken: Bools = self.is_short(self.figures(counts))
        return broken

    def infeasible(self, counts: ClassCounts, breaking: Bools) -> Bools | bool:
        """The breaking groups no part of which could keep it, however they are split."""
        return False

    def rows_lost(self, counts: ClassCounts, figures: Floats) -> Floats | int:
        """The fewest rows of each group that no split saves, where each row is a person."""
        return 0

    def kernel_bounds(self) -> Mapping[str, Any] | None:
        """The bounds by which local recoding judges a part, see `tamis.coarsen.local.PartBounds`.

        `None`: it has none, and makes all groups larger until they keep this one.
        """
        return None

    def on_sample(self, share: float) -> Mapping[str, Any]:
        """The options to ask of a sample, which has that share of the rows."""
        return {option.dest: getattr(self, option.dest) for option in self.options}

    def lacking(self, figure: float) -> str:
        """What was asked for and what was reached instead, in words."""
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
        """Words about it, with the attacker whom they are about."""
        return f"{self.attacker}: {words}" if self.attacker else words

    def why_left_out(self, secret: str) -> str:
        """Why a group that breaks it is left out, in words."""
        raise NotImplementedError

    def to_dict(self, unit: Unit) -> dict[str, Any]:
        """Its entry in a manifest or recipe, with its sentence; what is measured comes later."""
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
        """The same requirement of some columns and, where it is about one, of a secret.

        `number` says whether the secret has numbers, which have an order.
        """
        return replace(
            self, columns=tuple(columns), secret=secret if self.about_secret else self.secret
        )


@dataclass(frozen=True)
class Requirements(Sequence[Requirement]):
    """All that is required of groups of people alike, in the order in which failures are told.

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
        """The fewest people in a group, by what is asked of sizes alone."""
        return max((each.fewest_people for each in self.each if each.of_sizes), default=1)

    @property
    def fewest_people(self) -> int:
        """A group of fewer people keeps not all."""
        return max((each.fewest_people for each in self.each), default=1)

    @property
    def several(self) -> bool:
        """Whether attackers are named: each may know other columns."""
        return any(each.attacker for each in self.each)

    @property
    def of_secrets(self) -> bool:
        """Whether anything is asked about the sensitive column."""
        return any(each.about_secret for each in self.each)

    @property
    def beyond_k(self) -> Requirements:
        """Those that the smallest group does not decide."""
        return Requirements(tuple(each for each in self.each if not each.of_sizes))

    @property
    def of_sizes(self) -> Requirements:
        """Those that the smallest group decides."""
        return Requirements(tuple(each for each in self.each if each.of_sizes))

    @property
    def about_secrets(self) -> Requirements:
        """Those about the sensitive column."""
        return Requirements(tuple(each for each in self.each if each.about_secret))

    @property
    def of_risks(self) -> Requirements:
        """Those about the chance of finding people."""
        return Requirements(tuple(each for each in self.each if each.of_risk))

    @property
    def by_group(self) -> Requirements:
        """Those that each group is judged by."""
        return Requirements(tuple(each for each in self.each if each.by_group))

    @property
    def of_all(self) -> Requirements:
        """Those that all groups together are judged by."""
        return Requirements(tuple(each for each in self.each if not each.by_group))

    @property
    def monotone(self) -> Requirements:
        """Those that no split of groups mends: a search may pass over all that split more."""
        return Requirements(tuple(each for each in self.each if each.monotone))

    def about(self, columns: Iterable[str], secret: str | None, *, number: bool) -> Requirements:
        """The same of some columns and a secret."""
        known = tuple(columns)
        return Requirements(tuple(each.about(known, secret, number=number) for each in self.each))

    @property
    def views(self) -> dict[tuple[str, ...], Requirements]:
        """Those about the same columns together, by the columns."""
        return self._by(lambda each: each.columns)

    @property
    def by_secret(self) -> dict[str | None, Requirements]:
        """Those about the same secret together; first, by `None`, those about none.

        Sizes are compared first, since secrets take longer to count.
        """
        return Requirements(tuple(sorted(self.each, key=lambda each: each.about_secret)))._by(
            lambda each: each.secret if each.about_secret else None
        )

    def _by(self, key: Callable[[Requirement], Any]) -> dict[Any, Requirements]:
        found: dict[Any, list[Requirement]] = {}
        for each in self.each:
            found.setdefault(key(each), []).append(each)
        return {name: Requirements(tuple(some)) for name, some in found.items()}

    def to_dicts(self, unit: Unit) -> list[dict[str, Any]]:
        """Their entries in a manifest or recipe."""
        return [each.to_dict(unit) for each in self.each]

    def met(self, counts: ClassCounts) -> bool:
        """Whether all hold; sizes are compared first, since secrets take longer to count."""
        cheap_first = sorted(self.each, key=lambda each: each.about_secret)
        return not any(each.is_short(each.reached(counts)) for each in cheap_first)

    def breaking(self, counts: ClassCounts) -> Bools:
        """The groups that do not keep all that each group is judged by."""
        broken: Any = counts.people < 1
        for each in self.by_group:
            broken = broken | each.breaking(counts)
        return broken  # type: ignore[no-any-return]

    def reached(self, counts: ClassCounts) -> dict[str, float]:
        """What is reached of each, by its name."""
        return {each.name: each.reached(counts) for each in self.each}

    def lacking(self, reached: Mapping[str, float]) -> str:
        """What is lacking of the first that does not hold, in words; empty where all hold."""
        short = (each for each in self.each if each.is_short(reached[each.name]))
        return next((each.lacking(reached[each.name]) for each in short), "")

    def short_of(self, counts: ClassCounts) -> str:
        """The same, from counts."""
        return self.lacking(self.reached(counts))
