"""Made tables given to the Weka program itself (Debian's package `weka`) and to our learners."""

from __future__ import annotations

import re
import shutil
import subprocess

import numpy as np
import polars as pl
import pytest

from tamis.learn.bayes import AdditiveNaiveBayes
from tamis.learn.c45 import C45Classifier

PROGRAM = shutil.which("weka")
LEVELS = {"colour": ["blue", "green", "red", "white"], "size": ["l", "m", "s"]}
CLASSES = ["no", "perhaps", "yes"]
ANSWER = re.compile(r"^\s+\d+\s+\S+\s+\d+:(\w+)\s+\+?\s+([\d.,*]+)", re.MULTILINE)

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="the program weka is not installed")


def people(seed, rows=400):
    """Numbers and nominal values, a tenth missing, that tell a noisy class."""
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=(rows, 2)).round(seed % 3 + 1)
    colour, size = rng.integers(0, 4, rows), rng.integers(0, 3, rows)
    score = numbers.sum(axis=1) + (colour == 2) - size + rng.normal(scale=0.7, size=rows)
    named = {
        name: np.array(LEVELS[name])[codes] for name, codes in [("colour", colour), ("size", size)]
    }
    frame = pl.DataFrame({"a": numbers[:, 0], "b": numbers[:, 1], **named})
    holes = [pl.Series(rng.random(rows) < 0.1) for _ in frame.columns]
    frame = frame.select(
        pl.when(hole).then(None).otherwise(pl.col(name)).alias(name)
        for name, hole in zip(frame.columns, holes)
    ).with_columns(pl.col(name).cast(pl.Enum(levels)) for name, levels in LEVELS.items())
    return frame, np.array(CLASSES)[np.digitize(score, [-1.5, 0.5])]


def arff(frame, labels):
    kinds = {
        c: "{" + ",".join(LEVELS[c]) + "}" if c in LEVELS else "numeric" for c in frame.columns
    }
    head = ["@relation made", *(f"@attribute {c} {kind}" for c, kind in kinds.items())]
    head += ["@attribute class {" + ",".join(CLASSES) + "}", "@data"]
    lines = [
        ",".join("?" if cell is None else str(cell) for cell in (*row, label))
        for row, label in zip(frame.rows(), labels)
    ]
    return "\n".join([*head, *lines, ""])


def ask_weka(folder, learner, options, train, test):
    """What the program predicts for the rows of `test`, with the shares of the classes."""
    for name, part in (("train", train), ("test", test)):
        (folder / f"{name}.arff").write_text(arff(*part))
    command = [PROGRAM, "-c", f"weka.classifiers.{learner}", "--", *options, "-p", "0"]
    command += ["-t", folder / "train.arff", "-T", folder / "test.arff", "-distribution"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    answers = ANSWER.findall(done.stdout)
    labels = [label for label, _ in answers]
    return labels, [[float(s) for s in shares.replace("*", "").split(",")] for _, shares in answers]


@pytest.mark.parametrize(
    ("seed", "learner", "options", "ours"),
    [
        (1, "trees.J48", [], C45Classifier()),
        (2, "trees.J48", ["-C", "0.1"], C45Classifier(confidence=0.1)),
        (3, "trees.J48", ["-M", "5"], C45Classifier(min_rows=5)),
        (4, "trees.J48", ["-S"], C45Classifier(raise_subtrees=False)),
        (5, "trees.J48", ["-U"], C45Classifier(prune=False)),
        (6, "bayes.NaiveBayes", [], AdditiveNaiveBayes()),
        (7, "bayes.NaiveBayes", [], AdditiveNaiveBayes()),
    ],
)
def test_we_predict_what_weka_predicts(tmp_path, seed, learner, options, ours):
    frame, labels = people(seed)
    train, test = (frame[:250], labels[:250]), (frame[250:], labels[250:])
    expected, shares = ask_weka(tmp_path, learner, options, train, test)
    ours.fit(*train)
    assert ours.predict(test[0]).tolist() == expected
    np.testing.assert_allclose(ours.predict_proba(test[0]), shares, atol=6e-4)  # three decimals
