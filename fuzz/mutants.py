"""Faults put into the code that keeps promises: each must make one of its tests fail.

A mutant is the package with one small change in one module: a limit moved by one, a comparison
turned, a condition dropped. The tests of that module are run on it; if they all pass, a fault of
that kind would go unnoticed. A survivor is killed by a test at the limit that it moved, or it makes
no difference and is listed in `equivalent.toml` with the reason.
"""

from __future__ import annotations

import ast
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from fuzz.tally import Tally

ROOT = Path(__file__).resolve().parents[1]
LISTED = Path(__file__).with_name("equivalent.toml")
RISK = ("risk/test_brute_force.py", "risk/test_people.py")
DRAWN = ("dp/test_private_table.py", "dp/test_marginals.py", "dp/test_contribution.py")
COUNTED = ("verification/test_checks.py", "verification/test_absences.py")
VERIFY = (
    "verification/test_verify.py",
    "verification/test_verify_cells.py",
    "verification/test_verify_manifest.py",
)
TESTS: dict[str, tuple[str, ...]] = {
    "figures.py": ("require/test_doors.py",),
    "require/base.py": ("require/test_doors.py", "risk/test_anonymity.py", "test_settings.py"),
    "require/counts.py": ("risk/test_diversity.py", *RISK),
    "require/k.py": (
        "require/test_doors.py",
        "require/test_known_rows.py",
        "risk/test_absences.py",
    ),
    "require/diversity.py": ("require/test_doors.py",),
    "require/attacker.py": ("require/test_attacker.py",),
    "require/population.py": (
        "verification/test_presence.py",
        "evaluate/test_in_population.py",
        "risk/test_presence.py",
    ),
    "release.py": ("test_release.py",),
    "coding.py": ("test_coding.py", *RISK),
    "risk/grouping.py": ("risk/test_grouping.py", "require/test_linked.py", *RISK),
    "risk/anonymity.py": ("risk/test_anonymity.py", *RISK),
    "risk/containment.py": ("risk/test_containment.py", "risk/test_absences.py", *RISK),
    "risk/diversity.py": ("risk/test_diversity.py", *RISK),
    "risk/individual.py": ("risk/test_individual.py", *RISK),
    "risk/population.py": ("risk/test_population.py",),
    "risk/presence.py": ("risk/test_presence.py",),
    "risk/suppression.py": ("risk/test_suppression.py",),
    "risk/breach.py": ("risk/test_breach.py",),
    "risk/suda.py": ("risk/test_suda.py",),
    "risk/attackers.py": ("require/test_attacker.py", "require/test_known_rows.py"),
    "risk/limits.py": ("require/test_doors.py", "cli/test_gate.py"),
    "perturb/shifted_dates.py": ("perturb/test_shifted_dates.py",),
    "dp/budget.py": (
        "dp/test_budget.py",
        "dp/test_accounting.py",
        "dp/test_private_table.py",
        "dp/test_privacy.py",
    ),
    "dp/domain.py": ("dp/test_domain.py", *DRAWN),
    "dp/histogram.py": DRAWN,
    "dp/private_table.py": DRAWN,
    "dp/selector.py": (*DRAWN, "dp/test_privacy.py"),
    "dp/ledger.py": ("dp/test_ledger.py", "dp/test_fingerprint.py", "cli/test_beside.py"),
    "verification/checks.py": (
        "verification/test_checks.py",
        "verification/test_absences.py",
        "verification/test_exposure.py",
        *VERIFY,
    ),
    "release_counts.py": ("verification/test_left_out.py", "verification/test_exposure.py"),
    "verification/people.py": (
        "verification/test_people.py",
        "verification/test_left_out.py",
        "require/test_linked.py",
    ),
    "verification/presence.py": ("verification/test_presence.py",),
    "verification/claims.py": (
        "verification/test_exposure.py",
        "verification/test_checks.py",
        "verification/test_absences.py",
        *VERIFY,
    ),
    "verification/secret_groups.py": (
        "verification/test_secret_groups.py",
        "require/test_known_rows.py",
    ),
    "verification/written_rows.py": (*VERIFY, "verification/test_behind_engine.py"),
    "verification/verify.py": (
        *VERIFY,
        "verification/test_checks.py",
        "verification/test_absences.py",
    ),
}
"""The modules that carry promises, in `src/tamis`, and the tests that hold them, in `tests`."""
SLACK = 60.0
"""Seconds that the tests of a mutant may take beyond thrice those of the original."""

_COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_COUNTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.Mod: ast.FloorDiv,
}
_ORDERED = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_SWAPPED = {"min": "max", "max": "min", "any": "all", "all": "any"}
_UNTOUCHED = (ast.Raise, ast.JoinedStr, ast.Import, ast.ImportFrom, ast.Assert)
"""Words of messages and what only a type checker reads: no promise hangs on them."""


@dataclass(frozen=True)
class Mutant:
    """One change of a module: its line as it was and as it would be."""

    module: str
    line: int
    was: str
    now: str
    source: str
    """The whole module, changed."""
    at_limit: bool = False
    """Whether it moves a limit by one or takes its very end in or out."""

    @property
    def words(self) -> str:
        return f"{self.module}:{self.line}: {self.was} -> {self.now}"

    @property
    def key(self) -> tuple[str, str, str]:
        """What stays the same when lines are added elsewhere."""
        return self.module, self.was, self.now

    @property
    def digest(self) -> str:
        """What changes with any change of its module."""
        return hashlib.sha256(f"{self.module}\n{self.source}".encode()).hexdigest()


def mutants_of(module: str, source: str) -> list[Mutant]:
    """Every mutant of a module.

    >>> [m.now for m in mutants_of("m.py", "def f(x):\\n    return x < 3\\n")]
    ['return None', 'return x <= 3', 'return x < 4']
    """
    found = []
    for node, changed in _changes(ast.parse(source)):
        mutant = _applied(module, source, node, changed)
        if mutant is not None:
            found.append(mutant)
    return found


def _changes(tree: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Each expression with what it may become; a change is one at a time."""
    for child in _looked_at(tree):
        if isinstance(child, ast.Return) and child.value is not None:
            if not isinstance(child.value, ast.Constant):
                yield child.value, ast.Constant(None)
        elif isinstance(child, ast.expr):
            for changed in _changed(child):
                yield child, changed
        yield from _changes(child)


def _looked_at(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a node that run: no annotation, decorator, docstring or message."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "type_params"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, _UNTOUCHED) or not isinstance(child, ast.AST):
                continue
            if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
                continue
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
                continue
            yield child


def _changed(node: ast.expr) -> Iterator[ast.expr]:
    match node:
        case ast.Compare(left, ops, comparators):
            for i, op in enumerate(ops):
                turned = [*ops[:i], _COMPARED[type(op)](), *ops[i + 1 :]]
                yield ast.Compare(left, turned, comparators)
        case ast.BoolOp(ast.And(), values):
            yield ast.BoolOp(ast.Or(), values)
        case ast.BoolOp(ast.Or(), values):
            yield ast.BoolOp(ast.And(), values)
        case ast.UnaryOp(ast.Not(), operand):
            yield operand
        case ast.BinOp(left, op, right) if type(op) in _COUNTED:
            yield ast.BinOp(left, _COUNTED[type(op)](), right)
        case ast.Call(ast.Name(name), args, keywords) if name in _SWAPPED:
            yield ast.Call(ast.Name(_SWAPPED[name]), args, keywords)
        case ast.Constant(bool() as value):
            yield ast.Constant(not value)
        case ast.Constant(int() as value):
            yield ast.Constant(value + 1)


def _applied(module: str, source: str, node: ast.expr, changed: ast.expr) -> Mutant | None:
    """The module with the text of one expression replaced.

    It needs no brackets of its own: what takes its place binds as it did, or it stood in some.
    """
    lines = source.encode().splitlines(keepends=True)
    first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
    before = lines[first][: node.col_offset]
    after = lines[last][node.end_col_offset :]
    new = ast.unparse(changed).encode()
    whole = b"".join(lines[:first]) + before + new + after + b"".join(lines[last + 1 :])
    was = b" ".join(line.strip() for line in lines[first : last + 1]).decode()
    now = (before + new + after).strip().decode()
    if was == now:
        return None
    return Mutant(module, node.lineno, was, now, whole.decode(), _moves_a_limit(node, changed))


def _moves_a_limit(node: ast.expr, changed: ast.expr) -> bool:
    match node, changed:
        case ast.Compare(_, ops), ast.Compare(_, turned):
            pairs = zip(ops, turned, strict=True)
            return any(type(a) is not type(b) and isinstance(a, _ORDERED) for a, b in pairs)
        case ast.Constant(value), _:
            return not isinstance(value, bool)
    return False


def listed(path: Path = LISTED) -> dict[tuple[str, str, str], str]:
    """The mutants that make no difference, with the reason."""
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    return {(m["module"], m["was"], m["now"]): m["reason"] for m in content.get("mutant", [])}


class Trial:
    """A copy of a package in which mutants take the place of a module, and its tests."""

    def __init__(self, folder: Path, package: Path, tests: Path) -> None:
        self.folder, self.tests = folder, tests
        self.package = folder / "src" / package.name
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(package, self.package, ignore=ignored)

    def passes(self, module: str, names: Sequence[str], seconds: float | None = None) -> bool:
        """Whether these tests and the examples of a module pass now; not if they take too long."""
        command = [sys.executable, "-m", "pytest", "-qx", "-n0", "-pno:cacheprovider"]
        command += ["--hypothesis-seed=0", str(self.package / module)]
        command += [str(self.tests / name) for name in names]
        env = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(self.folder / "src"), str(ROOT)]),
            "PYTHONDONTWRITEBYTECODE": "1",
            "HYPOTHESIS_STORAGE_DIRECTORY": str(self.folder / "hypothesis"),
        }
        try:
            done = subprocess.run(
                command, cwd=ROOT, env=env, capture_output=True, timeout=seconds, check=False
            )
        except subprocess.TimeoutExpired:
            return False
        return done.returncode == 0

    def survives(self, mutant: Mutant, names: Sequence[str], seconds: float) -> bool:
        """Whether these tests pass on a mutant; the module is as it was afterwards."""
        path = self.package / mutant.module
        original = path.read_bytes()
        path.write_text(mutant.source, encoding="utf-8")
        try:
            return self.passes(mutant.module, names, seconds)
        finally:
            path.write_bytes(original)


def run(
    tally: Tally,
    seed: int = 0,
    most: int = 10_000,
    only: str = "",
    at_limits: bool = False,
    resume: Path | None = None,
) -> None:
    """Try mutants of the modules that carry promises, in random order.

    `only` has words of which the path of a module must contain one; with `at_limits`, mutants that
    move a limit are tried alone. `resume` is a file of those that were noticed in earlier runs:
    they are passed over while their module is as it was, and more are added.
    """
    with tempfile.TemporaryDirectory(prefix="tamis-mutants-") as folder:
        trial = Trial(Path(folder), ROOT / "src" / "tamis", ROOT / "tests")
        noticed = Noticed(resume)
        try_modules(tally, trial, chosen(only), seed, most, at_limits=at_limits, noticed=noticed)


def chosen(only: str = "") -> dict[str, tuple[str, ...]]:
    """The modules whose path has one of these words, with their tests.

    >>> list(chosen("budget|diversity"))
    ['risk/diversity.py', 'dp/budget.py']
    """
    return {m: t for m, t in TESTS.items() if any(word in m for word in only.split("|"))}


class Noticed:
    """The mutants that tests have noticed, kept in a file so that a run can go on later."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        self.digests = set[str]()
        if path is not None and path.exists():
            self.digests = set(path.read_text(encoding="utf-8").split())

    def add(self, mutant: Mutant) -> None:
        self.digests.add(mutant.digest)
        if self.path is not None:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(f"{mutant.digest}\n")

    def __contains__(self, mutant: Mutant) -> bool:
        return mutant.digest in self.digests


def try_modules(
    tally: Tally,
    trial: Trial,
    modules: Mapping[str, Sequence[str]],
    seed: int = 0,
    most: int = 10_000,
    known: Mapping[tuple[str, str, str], str] | None = None,
    at_limits: bool = False,
    noticed: Noticed | None = None,
) -> None:
    """Try the mutants of modules, and note each that no test of its module notices."""
    equivalent = listed() if known is None else known
    noticed = Noticed() if noticed is None else noticed
    waiting = [
        mutant
        for module in modules
        for mutant in mutants_of(module, (trial.package / module).read_text(encoding="utf-8"))
        if (mutant.at_limit or not at_limits) and mutant not in noticed
    ]
    Random(seed).shuffle(waiting)
    times: dict[str, float | None] = {}
    """How long the tests of a module take; `None` where they fail on it as it is."""
    for number in tally.until(min(most, len(waiting))):
        mutant = waiting[number]
        module, names = mutant.module, modules[mutant.module]
        if mutant.key in equivalent:
            tally.tried[f"{module}: makes no difference"] += 1
            continue
        if module not in times:
            began, passed = time.monotonic(), trial.passes(module, names)
            times[module] = time.monotonic() - began if passed else None
            tally.check(passed, f"{module}: its tests fail without any change")
        taken = times[module]
        if taken is None:
            continue
        alive = trial.survives(mutant, names, 3 * taken + SLACK)
        tally.tried[f"{module}: {'not noticed' if alive else 'noticed'}"] += 1
        if not alive:
            noticed.add(mutant)
        tally.check(not alive, mutant.words)
