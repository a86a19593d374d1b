"""For the site a page is followed: its full output and pictures stand where the page was cut."""

from __future__ import annotations

import runpy
from pathlib import Path

FOLLOWED = runpy.run_path(str(Path(__file__).resolve().parents[2] / "docs" / "followed.py"))
PAGE = """# A page

```text title="note.txt"
kept
```

```python
from pathlib import Path

Path("drawn.svg").write_text(Path("note.txt").read_text())
```

```console
$ tamis --version
...
```

```python
>>> 1 + 1
2
```
"""


def test_output_and_pictures_take_the_place_of_dots(tmp_path):
    (tmp_path / "pictures").mkdir()
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    shots: list[Path] = []
    text = FOLLOWED["filled"](page, tmp_path / "pictures", lambda _, file: shots.append(file))
    head, _, rest = PAGE.partition("...\n```\n")
    assert text.startswith(head)
    assert text[len(head) :].startswith("tamis")
    assert "\n...\n" not in text
    assert "![drawn](../pictures/page-drawn.svg)\n" in text
    assert text.endswith(rest)
    assert (tmp_path / "pictures" / "page-drawn.svg").read_text() == "kept\n"
    assert [*(tmp_path / "pictures").iterdir()] == [tmp_path / "pictures" / "page-drawn.svg"]
    assert not shots


def test_a_command_is_read_as_it_was_typed():
    typed = FOLLOWED["typed_in"]("$ tamis audit t.csv \\\n    --k 5\nout\n$ tamis verify r\n...\n")
    assert typed == ["tamis audit t.csv \\\n    --k 5", "tamis verify r"]
