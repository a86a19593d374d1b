"""Sparse 0/1 files: libsvm lines, baskets, long tables."""

import gzip

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis import read_binary
from tamis.errors import InputError
from tamis.read import sparse as reader


@pytest.fixture
def file(tmp_path):
    def write(content: str, name: str):
        path = tmp_path / name
        path.write_text(content)
        return path

    return write


def test_items_of_thousands_of_digits_are_texts(file):
    long = "9" * 5_000
    table = read_binary(file(f"{long} 7\n10 {long}\n", "t.basket"))
    assert table.features == ("10", "7", long)


def test_svm(file):
    table = read_binary(file("+1 1:1 3:1\n-1 3:1.0 2:1 # note\n+1\n", "t.svm"))
    assert table.matrix.toarray().tolist() == [[1, 0, 1], [0, 1, 1], [0, 0, 0]]
    assert table.features == ("1", "2", "3")
    assert table.labels is not None
    assert table.labels.tolist() == ["+1", "-1", "+1"]


def test_svm_counted_from_zero_and_named_twice(file):
    table = read_binary(file("a 0:1 2:1 2:1\nb 1:1\n", "t.libsvm"))
    assert table.features == ("0", "1", "2")
    assert table.matrix.toarray().tolist() == [[1, 0, 1], [0, 1, 0]]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("+1 1:1\n-1 -3:1\n", "line 2 has a negative index"),
        ("+1 1:1\n-1 2:1 S3CRET:1\n", "line 2 has an index that is not a whole number"),
        ("+1 qid:4 1:1\n-1 2:1\n", "line 1 has an index that is not a whole number"),
        ("+1 1:1\n-1 2:0.5\n", "line 2 has a value other than 1"),
        ("+1 1:1\n-1 2\n", "line 2 has an index without a value"),
        ("+1 1:1\n-1 99999999999:1\n", "more than 31 bits"),
        ("+1 1:1\n\n-1 2:1\n", "line 2 has no label"),
        ("+1 1:1\n+1 2:1\n", "only one value"),
        ("", "is empty"),
    ],
)
def test_bad_svm(file, content, said):
    with pytest.raises(InputError, match=said) as caught:
        read_binary(file(content, "t.svm"))
    assert "S3CRET" not in str(caught.value)


def test_baskets_with_labels_from_a_second_file(file):
    baskets = file("bread milk\n\nmilk  beer\n", "t.basket")
    table = read_binary(baskets, labels=file("a\nb\na\n", "labels.txt"))
    assert table.features == ("beer", "bread", "milk")
    assert table.matrix.toarray().tolist() == [[0, 1, 1], [0, 0, 0], [1, 0, 1]]
    assert table.labels is not None
    assert table.labels.tolist() == ["a", "b", "a"]
    with pytest.raises(InputError, match="2 labels for 3 rows"):
        read_binary(baskets, labels=file("a\nb\n", "short.txt"))


def test_baskets_with_a_label_item_and_numbers_in_order(file):
    baskets = file("10 2 1\n2 9\n1\n", "t.basket")
    one = read_binary(baskets, label_items=["1"])
    assert one.features == ("2", "9", "10")
    assert one.labels is not None
    assert one.labels.tolist() == ["1", "not 1", "1"]
    two = read_binary(baskets, label_items=["1", "9"])
    assert two.labels is not None
    assert two.labels.tolist() == ["1", "9", "1"]
    with pytest.raises(InputError, match="not every row has exactly one"):
        read_binary(baskets, label_items=["1", "2"])
    with pytest.raises(InputError, match="no row has the label item '7'; a label item is"):
        read_binary(baskets, label_items=["7"])


def test_items_with_blanks_need_a_separator(file):
    table = read_binary(file("whole milk,rye bread\nrye bread\n", "t.basket"), separator=",")
    assert table.features == ("rye bread", "whole milk")


def test_long_tables(file):
    pairs = file("who,what,when\nann,milk,1\nbob,beer,2\nann,milk,3\nann,beer,4\n", "long.csv")
    labels = file("who,buys\nbob,no\nann,yes\ncat,no\n", "labels.csv")
    table = read_binary(pairs, long=("who", "what"), labels=labels, target="buys")
    assert table.features == ("beer", "milk")
    assert table.matrix.toarray().tolist() == [[1, 0], [1, 1], [0, 0]]
    assert table.labels is not None
    assert table.labels.tolist() == ["no", "yes", "no"]
    assert table.target == "buys"
    few = file("who,buys\nbob,no\ndan,yes\n", "few.csv")
    with pytest.raises(InputError, match="3 lines of the long table have an entity without"):
        read_binary(pairs, long=("who", "what"), labels=few, target="buys")
    with pytest.raises(InputError, match="no column 'wat'"):
        read_binary(pairs, long=("who", "wat"))


def test_long_table_with_the_label_inside(file):
    pairs = file("who,what,buys\nann,milk,yes\nbob,beer,no\nann,beer,yes\n", "long.csv")
    table = read_binary(pairs, long=("who", "what"), target="buys")
    assert table.labels is not None
    assert table.labels.tolist() == ["yes", "no"]
    torn = file("who,what,buys\nann,milk,yes\nann,beer,no\n", "torn.csv")
    with pytest.raises(InputError, match="several values"):
        read_binary(torn, long=("who", "what"), target="buys")


@given(st.lists(st.sets(st.integers(1, 9)), min_size=1, max_size=30), st.integers(8, 60))
def test_chunks_do_not_matter(tmp_path_factory, rows, chunk):
    folder = tmp_path_factory.mktemp("svm")
    path = folder / "t.svm.gz"
    lines = [" ".join([str(i % 2), *(f"{j}:1" for j in row)]) for i, row in enumerate(rows)]
    path.write_bytes(gzip.compress("\n".join(lines).encode()))
    occurring = sorted(set().union(*rows))
    expected = [[int(j in row) for j in occurring] for row in rows]
    before = reader._CHUNK
    reader._CHUNK = chunk
    try:
        table = reader.svm_table(path)
    finally:
        reader._CHUNK = before
    assert table.matrix.toarray().tolist() == expected
    assert table.features == tuple(map(str, occurring))


def test_one_large_index_makes_one_column(file):
    table = read_binary(file("+1 2147483647:1\n-1 7:1\n", "t.svm"))
    assert table.features == ("7", "2147483647")
    assert table.matrix.toarray().tolist() == [[0, 1], [1, 0]]
    with pytest.raises(InputError, match="more than 31 bits"):
        read_binary(file("+1 2147483648:1\n", "u.svm"))


def test_the_real_email_corpus_has_the_published_shape(dataset):
    table = read_binary(dataset("pu1_body_binary.txt.gz"), format="svm")
    assert table.matrix.shape == (1099, 24604)
    assert table.labels is not None
    assert pl.Series(table.labels).value_counts(sort=True)["count"].to_list() == [618, 481]


def test_a_long_table_may_have_its_label_among_its_features(file):
    path = file("who,has\na,x\na,ill\nb,x\nb,y\nc,ill\nd,y\n", "long.csv")
    found = read_binary(path, long=("who", "has"), label_items=["ill"])
    assert found.features == ("x", "y")
    assert found.labels is not None
    assert found.labels.tolist() == ["ill", "not ill", "ill", "not ill"]
    with pytest.raises(InputError, match="leave out --labels, --target"):
        read_binary(path, long=("who", "has"), label_items=["ill"], target="has")
    with pytest.raises(InputError, match="no row has the label item 'il'"):
        read_binary(path, long=("who", "has"), label_items=["il"])
