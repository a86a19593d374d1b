"""Propose, evaluate and choose releases of a table; `analyse` and `publish` do the rest."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace

from tamis.all_rows import choose_on_all_rows, where_the_rows_are
from tamis.attack.earlier_releases import EarlierReleases
from tamis.binary.records import BinaryTable, Cut
from tamis.catalogue.measures import RANKS
from tamis.catalogue.methods import CONTAINMENT, EVERYTHING, NOTHING
from tamis.coarsen.ladder import Ladder
from tamis.decide import Decision, decide
from tamis.errors import CannotMeet, InputError, Progress, TamisWarning, listed
from tamis.evaluate.evaluator import Evaluator
from tamis.evaluate.in_population import InPopulation, population_of
from tamis.evaluate.scorecard import Scorecard, scorecard
from tamis.learn.holdout import HoldOut
from tamis.learn.models import attackers, seeded
from tamis.limits import Failure, lacking_in_population, lacking_with_earlier, too_told
from tamis.outcome import MovedDates, Outcome
from tamis.perturb import drawn_for, input_frame
from tamis.propose import Proposals, methods, propose
from tamis.propose.containment import ComparedRecords, screened
from tamis.propose.problem import Problem
from tamis.rank.evaluation import WEIGHTS
from tamis.read import check_numbers
from tamis.read.copies import Copy, without_copies
from tamis.read.keys import refuse_open_person, refuse_unstated_identifiers
from tamis.read.target_bins import need_classes
from tamis.release import Recipe, Release, released
from tamis.require.base import Requirements
from tamis.require.k import check_known_rows
from tamis.risk.attackers import (
    NOT_OF_RECORDS,
    as_one_group,
    check_knowledge,
    knowing_together,
    refuse_out_of_reach,
    required_of,
)
from tamis.risk.suppression import Suppression, most_suppressed
from tamis.rows import SAMPLED
from tamis.rows.large_table import LargeTable
from tamis.rows.memory_only import OF_RECORDS, RELEASING, refuse_memory_only
from tamis.settings import Settings as Settings
from tamis.statistical_file import PROGRAMS, check_names, unwritable
from tamis.table import Table


def consider(
    table: Table | BinaryTable | LargeTable | ComparedRecords,
    settings: Settings | None = None,
    *,
    binary: Mapping[str, Cut] | None = None,
    ladders: Mapping[str, Ladder] | None = None,
    progress: Progress | None = None,
    handed: EarlierReleases | None = None,
    register: Table | None = None,
    sample: int = SAMPLED,
) -> Outcome:
    """Propose releases of a table, measure them on held-out rows and choose one.

    The choice is based on one part of these rows; figures are reported from the other.

    Parameters
    ----------
    table : Table, BinaryTable, LargeTable or ComparedRecords
        A table with a target. A table behind an engine is searched on a sample, and promises are
        counted on all its rows. Of sparse records with very many columns, some hundred are compared
        (`tamis.propose.containment`); kept and told are shares of what all columns give.
    settings : Settings, optional
    binary : mapping of column to Cut, optional
        How to convert the table to 0/1 for methods that need it; `None`: by its values.
    ladders : mapping of column to Ladder, optional
        The holder's ladders; for other columns, coarser forms are learnt.
    progress : callable, optional
        Progress callback, see `tamis.errors.Progress`.
    handed : EarlierReleases, optional
        Earlier releases of the same people: k and limits on told must hold for all together.
    register : Table, optional
        The population of which the table is a sample, for `max_population_risk`; see
        `tamis.evaluate.in_population.register_of`.
    sample : int
        Approximate number of rows to search on, for a table behind an engine.

    Returns
    -------
    Outcome
        Raises `CannotMeet` if no release meets what is asked for.

    Examples
    --------
    >>> from tamis.datasets import patients
    >>> settings = Settings(methods={"containment": {"ks": [20], "utilities": ["difference"]}})
    >>> consider(patients(rows=400), settings).decision.chosen.release.name
    'containment, k = 20, difference'
    """
    if isinstance(table, LargeTable):
        refuse_memory_only({"earlier": handed}, RELEASING)
        return _consider_all_rows(
            table, settings or Settings(), sample, ladders, progress, register
        )
    if isinstance(table, ComparedRecords):
        given = vars(settings or Settings()) | {"earlier": handed, "register": register}
        refuse_memory_only(given, OF_RECORDS)
        outcome = consider(table.records, settings, progress=progress)
        return replace(outcome, left_out=table.left_out, engine=table.said())
    settings = (settings or Settings()).with_secret()
    population = population_of(settings.sampling, register, table, settings.in_population)
    records = None
    if isinstance(table, BinaryTable):
        table, records = _compared(table, settings, progress)
    _check(table, records, settings, handed)
    moved = None
    if settings.shift_dates is not None:
        table, moved = _with_moved_dates(table, records, settings, handed, population)
    if table.released_secrets:  # fix the quasi-identifiers: attackers do not know these secrets
        table = table.with_roles(quasi=table.quasi)
    if settings.link is not None:
        table = _linked(table, records, settings, handed, population)
    held: dict[str, Copy] = {}
    if settings.epsilon is not None:
        handed = None  # synthetic rows describe nobody, so there is nothing to match
    else:  # not with epsilon: holding a column back because of its cells would leak them
        table, held = without_copies(table)
    if handed is not None:
        handed.check(settings.k)
    asked = required_of(table, settings.requirements, settings.threats)
    if settings.epsilon is None:  # synthetic rows promise none of it, and a refusal would reveal
        everybody = as_one_group(table.people, table.frame)
        refuse_out_of_reach(asked, everybody, table.unit, all_stay=not settings.max_suppressed)
    table = knowing_together(table, settings.threats)
    evaluator = _evaluator(table, records, settings, asked, handed)
    if progress is not None and records is not None:
        progress("measuring what all columns give", 0, 1)
    problem = _problem(evaluator, settings, binary, ladders or {}, handed)
    proposals = _writable(propose(problem, methods(settings.proposing), progress), settings)
    ends, measures = _ends(problem, records), settings.measures
    card = scorecard(evaluator, *ends, proposals.releases, measures=measures, progress=progress)
    _warn(table, settings, card)
    decision = _decided(
        card, settings, _lacking_besides(card, handed, evaluator, settings, population)
    )
    outcome = Outcome(
        table,
        settings,
        evaluator,
        proposals,
        decision,
        binary,
        records,
        population,
        copies=held,
        moved=moved,
    )
    return outcome if settings.take is None else outcome.taking(settings.take)


def _consider_all_rows(
    large: LargeTable,
    settings: Settings,
    rows: int,
    ladders: Mapping[str, Ladder] | None,
    progress: Progress | None,
    register: Table | None,
) -> Outcome:
    """Choose on a sample and check on all rows; the outcome is about the sample except `all_rows`.

    Raises `CannotMeet` if no release meets the requirements on all rows.
    """
    settings = where_the_rows_are(settings)
    refuse_memory_only({"released_secrets": large.shape.released_secrets}, RELEASING)
    refuse_open_person(large)
    searched: list[Outcome] = []

    def search(sample: Table, asked: Settings) -> Decision:
        searched.append(consider(sample, asked, ladders=ladders, progress=progress))
        if progress is not None:
            progress("counting all rows", 0, 1)
        return searched[-1].decision

    decision, counted = choose_on_all_rows(large, settings, rows, ladders or {}, search, register)
    of_card = (o for o in searched if o.decision.scorecard is decision.scorecard)
    return replace(
        next(of_card),
        settings=settings,
        decision=decision,
        engine=counted.said(),
        population=counted.population,
        all_rows=counted,
    )


def _check(
    table: Table, records: BinaryTable | None, settings: Settings, handed: EarlierReleases | None
) -> None:
    """Raise for settings that cannot be measured, and for columns without a stated role."""
    if settings.threats and records is not None:
        raise InputError(NOT_OF_RECORDS)
    if settings.threats and handed is not None:
        raise InputError(
            "what earlier releases told is compared for one attacker, who knows all that is "
            "known; leave out --earlier, or name what that one knows with --quasi and leave out "
            "--attacker"
        )
    if settings.epsilon is None:
        check_names([*table.features, table.target], settings.format)
    check_knowledge(settings.threats, table)
    for what, given in (("weight", settings.secret_weights), ("limit", settings.secret_limits)):
        if shown := [c for c in given if c in table.released_secrets]:
            raise InputError(
                f"a {what} is given to {listed(shown)}, which may be released (--feature), so that "
                "nothing limits what is told of it; leave one of the two out"
            )
        if not (unknown := [c for c in given if c not in table.secrets]):
            continue
        raise InputError(
            f"a {what} is given to {listed(unknown)}, which is not sensitive; the sensitive "
            f"columns are {listed(table.secrets)}"
        )
    if settings.epsilon is None:  # synthetic rows release no column, and a refusal would reveal
        need_classes(table)
        check_numbers(table)
        refuse_unstated_identifiers(table)
    known = [settings.known_rows, *(each.asks.get("known_rows") for each in settings.threats)]
    if most := max((rows for rows in known if rows is not None), default=0):
        check_known_rows(table.people.codes, most)
    for secret in table.secrets:
        _check_distance(table, secret, settings)


def _with_moved_dates(
    table: Table,
    records: BinaryTable | None,
    settings: Settings,
    handed: EarlierReleases | None,
    population: InPopulation | None,
) -> tuple[Table, MovedDates]:
    """The table with each person's dates moved by a number of days drawn from the secret seed."""
    from tamis.perturb.shifted_dates import ShiftedDates, dated  # which loads scikit-learn

    each = {"--earlier": handed, "--population or --sampling": population}
    for option, given in each.items():
        if given:
            raise InputError(
                f"{option} compares people with others by what their rows hold, and --shift-dates "
                "moves their dates; give one of them"
            )
    if records is not None or not dated(input_frame(table)):
        raise InputError(
            "--shift-dates moves dates, and no feature holds dates that differ; leave it out, or "
            "say with a schema which columns are dates"
        )
    assert settings.shift_dates is not None
    draws = drawn_for(settings.secret, "shift dates")
    shift = ShiftedDates(settings.shift_dates, random_state=draws)
    moved: Table = shift.fit_transform(table)
    return moved, MovedDates(shift.columns_, shift.blanked_)


def _linked(
    table: Table,
    records: BinaryTable | None,
    settings: Settings,
    handed: EarlierReleases | None,
    population: InPopulation | None,
) -> Table:
    """The table with roles that link the rows of each person in a release."""
    link, there = settings.link, {*table.frame.columns, *table.roles.dropped}
    if not isinstance(link, str) or not link.strip() or link in there:
        wrong = "is in the table" if link in there else "is no name"
        raise InputError(
            f"--link names a column to add, got {link!r}, which {wrong}; who a person is, is said "
            "with --person COL"
        )
    if records is not None or settings.format in ("long", "svm"):
        raise InputError(
            "--link adds a column of numbers, which sparse records have no place for; choose "
            "--output-format csv or parquet, or leave it out"
        )
    check_names([link, *table.features, table.target], settings.format)
    if table.people.each_row:
        raise InputError(
            "--link says which rows are of one person, and each row is a person here; say who a "
            "person is with --person COL, or leave it out"
        )
    each = {"--earlier": handed, "--population or --sampling": population}
    for option, given in (each | {"--known-absences": settings.absences}).items():
        if given:
            raise InputError(
                f"{option} counts single rows of people, and --link releases them together; give "
                "one of them"
            )
    return table.with_roles(link=link)


def _check_distance(table: Table, secret: str, settings: Settings) -> None:
    each = [settings.t_distance if settings.t is not None else None]
    each += [a.asks.get("t_distance") for a in settings.threats if secret in (a.wants or [secret])]
    if "ordered" in each and not table.frame.schema[secret].is_numeric():
        raise InputError(
            f"the ordered distance needs numbers, but column {secret!r} holds none; ask for the "
            "equal one"
        )


def _evaluator(
    table: Table,
    records: BinaryTable | None,
    settings: Settings,
    asked: Requirements,
    handed: EarlierReleases | None,
) -> Evaluator:
    """Build the evaluator and its hold-out."""
    how = settings.holdout, settings.search_rows, settings.seed
    split = (
        HoldOut.of_table(table, *how, settings.k)
        if records is None
        else HoldOut.of_records(records, *how)
    )
    return Evaluator(
        table,
        split,
        seeded(settings.classifier, settings.seed),
        attackers(settings.attackers, settings.seed),
        settings.seed,
        asked,
        records,
        _suppression(table, split, settings, asked, handed),
        settings.secret_weights,
        settings.rule_measures,
    )


def _problem(
    evaluator: Evaluator,
    settings: Settings,
    binary: Mapping[str, Cut] | None,
    ladders: Mapping[str, Ladder],
    handed: EarlierReleases | None,
) -> Problem:
    """The problem that the methods are given."""
    return Problem(
        evaluator.original,
        evaluator.split,
        evaluator.requirements.k,
        evaluator.classifier,
        binary=binary,
        weights={name: settings.weights.get(name, 0.0) for name in WEIGHTS},
        random_state=settings.seed,
        secret=settings.secret,
        epsilon=settings.epsilon,
        yardstick=evaluator.yardstick,
        caution=settings.caution,
        ladders=ladders,
        requirements=evaluator.requirements,
        beside=None if handed is None else handed.classes,
        suppression=evaluator.suppression,
        absences=settings.absences,
        most_columns=settings.max_features,
        most_pbi=settings.max_pbi,
        only_containment=list(settings.proposing) == [CONTAINMENT.name],
        codes=evaluator.codes,
    )


def _writable(found: Proposals, settings: Settings) -> Proposals:
    """The releases whose column names the format allows: `job = cook` is none in SPSS."""
    bad = {
        each.name: names
        for each in found.releases
        if (names := unwritable(each.features, settings.format))
    }
    if not bad:
        return found
    program = PROGRAMS[settings.format]
    said = f"{program} cannot name their columns, such as {next(iter(bad.values()))[0]!r}"
    if len(bad) == len(found.releases):
        raise CannotMeet(f"none of the releases can be written: {said}; write csv or parquet")
    warnings.warn(
        f"{len(bad)} of {len(found.releases)} releases are not compared, since {said}; with csv "
        "or parquet they are",
        TamisWarning,
        stacklevel=3,
    )
    kept = tuple(each for each in found.releases if each.name not in bad)
    return replace(found, releases=kept)


def _ends(problem: Problem, records: BinaryTable | None) -> tuple[Release, Release]:
    """The baseline and the floor: releases of everything and of nothing."""
    table = problem.table
    baseline = released(table, table.features, EVERYTHING, Recipe(EVERYTHING))
    baseline = problem.promising(baseline)
    if records is not None:
        known = {*table.frame.columns, *table.roles.dropped}  # copies that were held back included
        baseline = baseline.standing_for(sum(name not in known for name in records.features))
    return baseline, released(table, [], NOTHING, Recipe(NOTHING))


def _decided(
    card: Scorecard, settings: Settings, also: Mapping[str, tuple[Failure, ...]]
) -> Decision:
    decision = decide(
        card,
        settings.limits,
        settings.weights,
        by=settings.choose,
        caution=settings.caution,
        # A refusal that depends on the rows would leak about them what epsilon does not cover.
        allow_useless=settings.allow_useless or settings.epsilon is not None,
        also=also,
    )
    _warn_useless(decision, settings)
    return decision


def _suppression(
    table: Table,
    split: HoldOut,
    settings: Settings,
    asked: Requirements,
    handed: EarlierReleases | None,
) -> Suppression | None:
    """The suppression that settings allow; `None` if nobody may be suppressed."""
    most = most_suppressed(settings.max_suppressed, table.everybody)
    if not most:
        return None
    if handed is not None:
        raise InputError(
            "max_suppressed leaves people out, and who is in an earlier release but not in this "
            "one stands out; leave out --earlier or --max-suppressed"
        )
    return Suppression(most, asked, table.frame, table.people, (split.seen,))


def _lacking_besides(
    card: Scorecard,
    handed: EarlierReleases | None,
    evaluator: Evaluator,
    settings: Settings,
    population: InPopulation | None,
) -> dict[str, tuple[Failure, ...]]:
    """Failures that no scorecard limit can express, by release name."""
    failed_by_name = {}
    if handed is not None:
        failed_by_name = lacking_with_earlier(card, handed, evaluator, settings.limits, settings.k)
    for row in card.rows if settings.told_limits else ():
        failed = too_told(evaluator, row.release, settings.told_limits)
        failed_by_name[row.release.name] = (*failed_by_name.get(row.release.name, ()), *failed)
    if population is None:
        return failed_by_name
    required = settings.in_population
    for row in card.rows if required else ():
        failed = lacking_in_population(row.release, population, required)
        failed_by_name[row.release.name] = (*failed_by_name.get(row.release.name, ()), *failed)
    return failed_by_name


def _compared(
    records: BinaryTable, settings: Settings, progress: Progress | None
) -> tuple[Table, BinaryTable | None]:
    """The columns of sparse records to compare as a table, and the records if it lacks some."""
    if records.labels is None:
        raise InputError(
            "a release needs a target; name it with --target, --labels or --label-item"
        )
    if not records.people.each_row:
        raise InputError(
            "in these records people have several rows, and k must count people; give the table "
            "that they were made from"
        )
    split = HoldOut.of_records(records, settings.holdout, random_state=settings.seed)
    if progress is not None:
        progress(f"choosing which of {len(records.features):,} columns to compare", 0, 1)
    columns = screened(records, split, settings.k, settings.seed)
    table = records.table(columns)
    return table, None if len(columns) == len(records.features) else records


def _warn_useless(decision: Decision, settings: Settings) -> None:
    row, card = decision.chosen, decision.scorecard
    useful = card.compared.choosing.useful[card.number(row)].clear
    if settings.epsilon is not None and not useful:
        warnings.warn(
            "the synthetic rows were not found to teach more about the target than guessing; a "
            "larger epsilon, more rows or fewer columns may help",
            TamisWarning,
            stacklevel=4,
        )


def _warn(table: Table, settings: Settings, card: Scorecard) -> None:
    measured = card.compared.choosing
    if measured.teaches and measured.weak:
        warnings.warn(
            f"the columns teach little about {table.target!r}: all together they make it less than "
            "5% more certain, so small differences between releases are mostly chance",
            TamisWarning,
            stacklevel=3,
        )
    shares = [settings.weights.get(name, 0.0) for name in ("performance", "privacy")]
    by_ranks = settings.choose == RANKS.name and table.sensitive == table.target
    if by_ranks and shares[0] == shares[1] != 0:
        warnings.warn(
            "the target is also the sensitive column, so performance and privacy with equal weight "
            "cancel out and only the number of columns decides; name a --sensitive column or "
            "give other --weights",
            TamisWarning,
            stacklevel=3,
        )
