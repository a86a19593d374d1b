"""Files and folders appear whole or not at all, whatever stops the run that writes them."""

import errno
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import pytest

from tamis import files
from tamis.cli.dp import public_bounds
from tamis.errors import CannotMeet, InputError, TamisWarning
from tamis.files import PREFIX, check_place, clean, load_toml, written, written_folder
from tamis.read.schema import load_schema


def left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def anything() -> None:
    """Whatever has the name may be replaced."""


def write(out: Path, text: str = "new") -> None:
    with written_folder(out, anything) as draft:
        (draft / "mark").write_text(text)
        (draft / "private").mkdir(mode=0o700)
        (draft / "private" / "secret").write_text(text)


def texts(out: Path) -> set[str]:
    return {path.read_text() for path in out.rglob("*") if path.is_file()}


def without_exchange(monkeypatch: pytest.MonkeyPatch) -> None:
    """A C library that has no renameat2."""
    monkeypatch.setattr("ctypes.CDLL", lambda *_, **__: object())


def test_a_failed_draft_leaves_the_old_file(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("old")
    with pytest.raises(UnicodeEncodeError), written(path) as draft:
        draft.write_text("half of it \ud800", encoding="utf-8")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_the_draft_has_the_suffix_and_the_usual_rights(tmp_path):
    path = tmp_path / "x.csv"
    with written(path) as draft:
        assert draft.suffix == ".csv"
        assert draft.parents[1].stat().st_mode & 0o777 == 0o700
        draft.write_text("whole")
    other = tmp_path / "y.csv"
    other.write_text("")
    assert path.stat().st_mode == other.stat().st_mode


def test_a_folder_has_the_usual_rights_and_its_parts_theirs(tmp_path):
    write(tmp_path / "out")
    (tmp_path / "other").mkdir()
    assert (tmp_path / "out").stat().st_mode == (tmp_path / "other").stat().st_mode
    assert (tmp_path / "out" / "private").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("exchange", [True, False])
def test_a_folder_takes_the_place_of_another(tmp_path, monkeypatch, exchange):
    if not exchange:
        without_exchange(monkeypatch)
    write(tmp_path / "out", "old")
    write(tmp_path / "out", "new")
    assert texts(tmp_path / "out") == {"new"}
    assert left(tmp_path) == ["out"]


def test_the_exchange_is_one_step_on_linux(tmp_path):
    if not sys.platform.startswith("linux"):
        pytest.skip("renameat2 is a call of Linux")
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "mark").write_text(name)
    assert files._renamed(tmp_path / "a", tmp_path / "b", files._EXCHANGE)
    assert (tmp_path / "a" / "mark").read_text() == "b"
    assert (tmp_path / "b" / "mark").read_text() == "a"
    with pytest.raises(FileExistsError):
        files._renamed(tmp_path / "a", tmp_path / "b", files._NO_REPLACE)


def test_where_no_exchange_is_a_failing_rename_brings_the_old_one_back(tmp_path, monkeypatch):
    without_exchange(monkeypatch)
    write(tmp_path / "out", "old")
    rename = Path.rename

    def failing(self: Path, target: Path) -> Path:
        if self.parent.name == "new":
            raise KeyboardInterrupt
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises(KeyboardInterrupt):
        write(tmp_path / "out", "new")
    assert left(tmp_path) == ["out"]
    assert texts(tmp_path / "out") == {"old"}


def test_what_cannot_be_written_is_said_before_the_work(tmp_path):
    with pytest.raises(InputError, match="no folder"), written(tmp_path / "a" / "x.csv"):
        pass
    with pytest.raises(InputError, match="create it first"):
        check_place(tmp_path / "a" / "out", folder=True)
    with pytest.raises(InputError, match="is not a file"):
        check_place(tmp_path.parent / tmp_path.name)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="is not a file"):
        check_place(tmp_path / "pipe")
    for unnamed in (Path(), Path("/"), tmp_path / ".."):
        with pytest.raises(InputError, match="add a name"):
            check_place(unnamed, folder=True)


def test_a_folder_that_nobody_may_write_into(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(InputError, match="permission denied; choose another folder"):
        check_place(tmp_path / "x.csv")


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
@pytest.mark.parametrize(
    "error", [lambda n: OSError(n, "full"), lambda n: ValueError(f"as polars: (os error {n})")]
)
def test_a_full_disk_is_said_and_nothing_stays(tmp_path, number, error):
    with pytest.raises(CannotMeet, match=r"no room to write .*x\.csv"), written(tmp_path / "x.csv"):
        raise error(number)
    with pytest.raises(CannotMeet, match="no room"), written_folder(tmp_path / "out", anything):
        raise error(number)
    assert left(tmp_path) == []
    with pytest.raises(OSError, match="other"), written(tmp_path / "x.csv"):
        raise OSError(errno.EIO, "other")


def test_a_limit_of_file_sizes_stops_every_writer(tmp_path):
    script = (
        "import resource, sys, polars as pl\n"
        "from pathlib import Path\n"
        "from tamis.errors import CannotMeet\n"
        "from tamis.files import written\n"
        "from tamis.table_file import write_table\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))\n"
        "frame = pl.DataFrame({'a': range(100_000)}).with_columns(b=pl.col('a').hash())\n"
        "for name in ('x.csv', 'x.parquet'):\n"
        "    try:\n"
        "        with written(name) as draft:\n"
        "            write_table(frame, draft)\n"
        "    except CannotMeet as error:\n"
        "        print(error)\n"
    )
    done = _python(script, tmp_path)
    assert done.stdout.count("no room to write") == 2, done.stderr
    assert left(tmp_path) == []


def _python(script: str, folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", script, *args],
        cwd=folder, capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip


KILLED = """
import os, signal, sys
from pathlib import Path
from tamis import files

way, folder = sys.argv[1], Path(sys.argv[2])
if way == "renames":
    files._renamed = lambda *_: False

def write(path):
    if way == "file":
        with files.written(path) as draft:
            draft.write_text("new" * 9)
    else:
        with files.written_folder(path, lambda: None) as draft:
            (draft / "mark").write_text("new" * 9)
            (draft / "private").mkdir(mode=0o700)
            (draft / "private" / "secret").write_text("new" * 9)

def child(at, path):
    seen = 0
    def hook(event, args):
        nonlocal seen
        if event.partition(".")[0] in ("open", "os", "shutil", "ctypes", "fcntl", "tempfile"):
            seen += 1
            if seen == at:
                os.kill(os.getpid(), signal.SIGKILL)
    sys.addaudithook(hook)
    write(path)
    os._exit(0)

for at in range(1, 1000):
    path = folder / str(at) / "out"
    pid = os.fork()
    if pid == 0:
        child(at, path)
    _, status = os.waitpid(pid, 0)
    if os.WIFEXITED(status):
        print(at)
        sys.exit(os.WEXITSTATUS(status))
"""
"""Writes again and again, killed at each step that the interpreter tells of, one further a time."""


def _old(path: Path, way: str) -> None:
    path.parent.mkdir(parents=True)
    if way == "file":
        path.write_text("old")
    else:
        write(path, "old")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.parametrize("way", ["file", "exchange", "renames"])
def test_a_kill_at_any_moment_leaves_the_old_or_the_new_and_the_next_run_cleans(tmp_path, way):
    for at in range(1, 120):
        _old(tmp_path / str(at) / "out", way)
    done = _python(KILLED, tmp_path, way, str(tmp_path))
    assert done.returncode == 0, done.stderr
    steps = int(done.stdout)
    assert 10 < steps < 120
    drafts = moved = 0
    states: set[str] = set()
    for at in range(1, steps):
        folder = tmp_path / str(at)
        names = left(folder)
        drafts += any(name.startswith(PREFIX) for name in names)
        moved += "out" not in names
        with nullcontext() if names == ["out"] else pytest.warns(TamisWarning):
            clean(folder)
        assert left(folder) == ["out"]
        out = folder / "out"
        found = {out.read_text()} if way == "file" else texts(out)
        assert found in ({"old"}, {"newnewnewnewnewnewnewnewnew"})
        states |= found
    assert len(states) == 2
    assert drafts > 5
    assert (moved > 0) == (way == "renames")


def test_drafts_of_a_run_that_lives_are_left_alone(tmp_path):
    with written(tmp_path / "x.csv") as first:
        write(tmp_path / "out")
        assert first.exists()
        with written(tmp_path / "x.csv") as second:
            second.write_text("second")
        first.write_text("first")
    assert (tmp_path / "x.csv").read_text() == "first"
    assert left(tmp_path) == ["out", "x.csv"]


def stale(folder: Path, name: str = "k3v9x0qa") -> Path:
    space = folder / f"{PREFIX}{name}"
    (space / "new").mkdir(parents=True)
    (space / "old").mkdir()
    return space


@pytest.mark.parametrize("way", ["file", "folder"])
def test_without_the_calls_of_unix_files_and_folders_still_appear_whole(tmp_path, monkeypatch, way):
    """As on Windows: no locks of folders, no exchange of names, no handle of a folder to flush."""
    opened = os.open

    def as_windows(path, flags, *args, **more):
        flushing = sys._getframe(1).f_code is files._sync.__code__
        if flushing and (Path(path).is_dir() or not flags & os.O_RDWR):
            raise PermissionError(errno.EACCES, "Permission denied")
        return opened(path, flags, *args, **more)

    monkeypatch.setattr(os, "open", as_windows)
    monkeypatch.setattr(files, "fcntl", None)
    monkeypatch.setattr(files, "WINDOWS", True)
    without_exchange(monkeypatch)
    left_over, out = stale(tmp_path), tmp_path / "out"
    for text in ("old", "new"):
        if way == "folder":
            write(out, text)
        else:
            with written(out) as draft:
                draft.write_text(text)
    assert (texts(out) if way == "folder" else {out.read_text()}) == {"new"}
    # Without locks, nobody can tell a leftover from the draft of a run that lives.
    assert left(tmp_path) == [left_over.name, "out"]


def test_what_is_left_is_named_when_it_is_removed(tmp_path):
    space = stale(tmp_path)
    (space / "new" / "out").mkdir()
    with pytest.warns(TamisWarning, match="left behind by a stopped run, a draft of 'out'"):
        check_place(tmp_path / "other.csv")
    assert left(tmp_path) == []


def test_what_a_stopped_run_had_moved_away_comes_back(tmp_path):
    space = stale(tmp_path)
    (space / "old" / "out").mkdir()
    (space / "old" / "out" / "mark").write_text("old")
    (space / "new" / "out").mkdir()
    with pytest.warns(TamisWarning) as told:
        clean(tmp_path)
    assert "it has been restored" in str(told[0].message)
    assert left(tmp_path) == ["out"]
    assert texts(tmp_path / "out") == {"old"}


def test_nothing_is_removed_whose_name_somebody_took(tmp_path):
    space = stale(tmp_path)
    (space / "old" / "out").mkdir()
    (space / "new" / "out").mkdir()
    (tmp_path / "out").mkdir()
    with pytest.warns(TamisWarning, match="inspect both"):
        clean(tmp_path)
    assert (space / "old" / "out").exists()


@pytest.mark.parametrize("kind", ["strange", "link", "file"])
def test_what_only_looks_like_a_draft_stays(tmp_path, kind):
    mine = tmp_path / "mine"
    (mine / "new").mkdir(parents=True)
    (mine / "letter").write_text("dear")
    place = tmp_path / f"{PREFIX}abc"
    makers: dict[str, Callable[[], object]] = {
        "strange": lambda: mine.rename(place),
        "link": lambda: place.symlink_to(mine),
        "file": lambda: place.write_text("x"),
    }
    makers[kind]()
    before = left(tmp_path)
    clean(tmp_path)
    assert left(tmp_path) == before


DEEP = "x = " + "[" * 50_000


@pytest.mark.parametrize("read", [load_schema, public_bounds, lambda f: load_toml(f, "--config")])
def test_brackets_without_end_are_refused(tmp_path, read):
    file = tmp_path / "t.toml"
    file.write_text(DEEP)
    with pytest.raises(InputError, match="too many nested brackets"):
        read(str(file))


def test_numbers_of_thousands_of_digits_are_refused(tmp_path):
    (tmp_path / "t.toml").write_text("x = " + "9" * 5_000)
    with pytest.raises(InputError, match="too many digits"):
        load_toml(tmp_path / "t.toml", "--config")


def test_what_cannot_be_read_is_named(tmp_path, monkeypatch):
    with pytest.raises(InputError, match=r"no file .*none.toml for --config"):
        load_toml(tmp_path / "none.toml", "--config")
    with pytest.raises(InputError, match="is a folder"):
        load_toml(tmp_path, "--config")
    (tmp_path / "t.toml").write_bytes(b"\xff")
    with pytest.raises(InputError, match="is not a TOML file"):
        load_toml(tmp_path / "t.toml", "--config")
    monkeypatch.setattr("tamis.files.MOST_BYTES", 0)
    with pytest.raises(InputError, match="larger than"):
        load_toml(tmp_path / "t.toml", "--config")


STOPPED = """
import os, signal, sys
from pathlib import Path
from tamis.files import written_folder

def child(number, folder):
    count = 0

    def watch(event, given):
        nonlocal count
        if event.startswith(("open", "os.", "shutil.")) and ".tamis-draft-" in repr(given):
            count += 1
            if count == number:
                os.kill(os.getpid(), signal.SIGINT)

    sys.addaudithook(watch)
    try:
        with written_folder(folder / "out", lambda: None) as draft:
            (draft / "file").write_text("whole")
    except KeyboardInterrupt:
        pass
    print([p.name for p in folder.iterdir() if p.name != "out"], flush=True)
    return count < number

signal.signal(signal.SIGINT, signal.default_int_handler)
for number in range(1, 1000):
    folder = Path(sys.argv[1], str(number))
    folder.mkdir()
    pid = os.fork()
    if pid == 0:
        undisturbed = True
        try:
            undisturbed = child(number, folder)
        finally:
            os._exit(undisturbed)
    if os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]):
        break
"""
"""Writes again and again, stopped at each operation on its draft, one further a time."""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_stop_at_any_operation_leaves_nothing_behind(tmp_path):
    """Also while the draft is made, and while it is removed."""
    done = _python(STOPPED, tmp_path, str(tmp_path))
    found = done.stdout.splitlines()
    assert set(found) == {"[]"}, done.stderr
    assert len(found) == len(left(tmp_path)) > 10
