"""Names of people, addresses and free text, recognised by a column's header and values together.

A header alone misleads (`first` may be a rank, `name` a product), and so do values alone (a column
of towns). A header that says "surname", in any of some twenty languages, needs values that could be
names. One that may mean a name, such as `first` or `nom`, needs many of them. Without such a
header, words count only where most of them occur once, as surnames do in any table.
"""

from __future__ import annotations

import re

import polars as pl

from tamis.people import header_words
from tamis.read.common_names import FAMILY_NAMES, GIVEN_NAMES
from tamis.read.headers import PEOPLE, PLACES, is_of_things
from tamis.read.identifiers import without_accents

FEWEST = 3
"""Fewest distinct values under a header that names people."""
FEWEST_DOUBTFUL = 20
"""Fewest distinct values under a header that may mean something else."""
MOST_ONCE = 30
"""Fewest distinct values where only the values count, not the header."""
ONCE = 0.5
"""Least share of distinct values that occur once, for words to count as hardly repeating."""
OFTEN = 0.05
"""Least distinct values per row under a doubtful header."""
VARIED = 0.1
"""Least distinct values per row without any such header."""
LISTED, FEW_EACH = 100, 0.25
"""Fewest distinct values, in all and per row, of single words that count although most repeat."""
KNOWN = 0.12
"""Least share of rows with a common name; columns of towns have 0.05 at most."""
KNOWN_THINGS = 0.4
"""Like `KNOWN`, under a header that names a thing, such as a firm called after people."""
KNOWN_IN = 0.25
"""Least share of rows with a common name among two to four words, for these to be full names;
columns of firms, schools, teams and counties have 0.15 at most."""
LIKE_NAMES = 0.8
"""Least share of distinct values that have the shape of names."""
MOST_WORDS = 4
"""The most words of a full name."""
LONG = 4
"""Fewest blanks in a text that counts as prose."""
LOOKED_AT = 5_000
PROSE = "free text"

_SURE = """
surname lastname lname firstname fname forename forenames fullname familyname givenname givennames
middlename mname maidenname birthname nickname namelast namefirst
prenom prenoms nomdefamille nomdenaissance patronyme nomprenom nomusage
vorname vornamen nachname familienname geburtsname zuname rufname
apellido apellidos primerapellido segundoapellido nombrecompleto nombrepila cognoms llinatge abizena
cognome nomecognome cognomenome
sobrenome apelido apelidos nomecompleto nomeproprio
achternaam voornaam voornamen tussenvoegsel roepnaam familienaam geslachtsnaam
efternamn fornamn tilltalsnamn efternavn fornavn etternavn mellomnavn mellemnavn eftirnafn
sukunimi etunimi etunimet perekonnanimi eesnimi
nazwisko imie imiona prijmeni jmeno priezvisko krstnemeno prezime priimek
vezeteknev keresztnev csaladnev utonev
prenume numedefamilie numelefamilie
soyad soyadi soyisim adsoyad adisoyadi
pavarde uzvards eponymo eponimo familiya familija otchestvo imya
kundenname patientenname teilnehmername mitarbeitername spielername schuelername ansprechpartner
фамилия имя отчество фио прізвище ονομα επωνυμο ονοματεπωνυμο 姓名 氏名 名前 姓 이름 성명 성 الاسم
namalengkap namabelakang namadepan cyfenw sloinne mbiemri mbiemer
nomjeunefille nomdejeunefille primeironome nomemae nomepai fornavne numefamilie
nomnaissance segundonombre nominativo eiginnafn kenninafn prizvyshche kunjom pangalan apelyido
hoten hovaten lastnm firstnm fullnm preferredname नाम שםמשפחה שםפרטי
"""
# Normalised by `header_words`, as the headers are: it decomposes Hangul along with the accents.
SURE_WORDS = frozenset("".join(header_words(word)) for word in _SURE.split())
"""Words, or compounds written as one word, that can only mean names of people."""
_DOUBTFUL = """
first last given family middle name names nom noms nome nomi nombre nombres ad adi ime meno nume
nama isim nimi navn namn naam nev neve vards vardas emri onoma izena jina nm alias aka
"""
DOUBTFUL = frozenset(_DOUBTFUL.split())
"""Words that may mean names of people."""
NAME = DOUBTFUL - {"first", "last", "given", "family", "middle"}
"""Those that mean names of people beside a word for a person; `last_contact`, for one, does not."""
_WHOSE = """
patient pat person people subject subj def defendant cust customer client emp employee member child
mother father parent spouse partner husband wife victim witness suspect offender inmate applicant
contact user student pupil teacher doctor physician nurse author owner driver insured
beneficiary kin nok guardian voter tenant borrower
plaintiff claimant policyholder judge player donor respondent participant resident citizen worker
staff manager cardholder resp kunde kunden paciente cliente
pasient pacjent osoba person patienten paziente
dipendente empleado salarie eleve schueler schuler mitarbeiter
"""
WHOSE = PEOPLE | frozenset(_WHOSE.split())
"""Words for persons, who may have a name, with the word for it or without."""
_BETWEEN = """
next of emergency legal birth preferred full actual holder account provider c p r s e de du del da
di der den van la le el des
"""
BETWEEN = frozenset(_BETWEEN.split())
"""Words that may stand between these; `provider`, for one, is a doctor or a hospital."""
_ADDRESS = """
address addr street streetaddress residence domicile adresse anschrift strasse rue voie
direccion domicilio calle indirizzo endereco morada adres straat adress gatuadress osoite
katuosoite ulica adresa utca lakcim cim sokak gade vei
wohnanschrift rua residenza gateadresse strada adresas aadress alamat diachi adreca
hjemmeadresse bydliste
"""
ADDRESS = frozenset(_ADDRESS.split())
"""Words for where somebody lives; the values must then be texts of several words."""

COMMON = GIVEN_NAMES | FAMILY_NAMES

_LETTERS = r"^\p{L}[\p{L}\p{M}'\x{2019}`.-]*,?(?: \p{L}[\p{L}\p{M}'\x{2019}`.-]*,?){0,4}$"
_FULL = _LETTERS.replace("{0,4}$", "{1,4}$")
_LONG_WORD = r"\p{L}{4}|[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}]{2}"
_MONTH = r"(?i)\b(?:jan|feb|m[aä]r|apr|ma[iy]|jun|jul|aug|sep|o[ck]t|nov|de[cz])[a-z]*\.?\b.*\d"


def named_by_header(column: pl.Series) -> str:
    """Why a column holds names or addresses, by its header with fitting values; empty if not.

    >>> named_by_header(pl.Series("Nachname", ["Kurz", "Lang", "Breit"]))
    'headed as names of people'
    >>> named_by_header(pl.Series("first", [1, 2, 3])), named_by_header(pl.Series("ad", ["x", "y"]))
    ('', '')
    """
    if not _is_text(column):
        return ""
    words = header_words(column.name)
    sure, doubtful = _is_sure(words), _is_doubtful(words)
    whose = bool(WHOSE & set(words)) and set(words) <= WHOSE | BETWEEN | DOUBTFUL
    address = bool(ADDRESS & {*words, "".join(words)})
    if not (sure or doubtful or whose or address):
        return ""
    present = _present(column)
    distinct = present.unique()
    if sure and distinct.len() >= FEWEST and _share(distinct, _LETTERS) >= LIKE_NAMES:
        return "headed as names of people"
    if distinct.len() < FEWEST_DOUBTFUL:
        return ""
    if whose and _share(distinct, _LETTERS if doubtful else _FULL) >= LIKE_NAMES:
        return "headed as names of people"
    if doubtful and _may_be_names(present, distinct):
        return "headed as names of people"
    if address and _share(distinct, r"\S\s+\S") >= ONCE:
        return "headed as addresses"
    return ""


def _is_sure(words: list[str]) -> bool:
    """Whether a word of the header, or up to three joined ones, can only mean names of people."""
    if NAME & set(words) and WHOSE & set(words) and _is_doubtful(words):
        return True
    runs = range(1, 4)
    return any("".join(words[at : at + n]) in SURE_WORDS for n in runs for at in range(len(words)))


def _is_doubtful(words: list[str]) -> bool:
    return bool(DOUBTFUL & set(words)) and set(words) <= DOUBTFUL | WHOSE | BETWEEN


def _may_be_names(present: pl.Series, distinct: pl.Series) -> bool:
    if _share(distinct, _LETTERS) < LIKE_NAMES:
        return False
    return distinct.len() >= OFTEN * present.len() or _are_known(present, KNOWN)


def named_by_values(column: pl.Series) -> str:
    """Why a column holds names, addresses or free text, by its values alone; empty if not.

    >>> named_by_values(pl.Series(["Anna", "Peter", "Maria", "Paul"] * 10))
    ''
    >>> named_by_values(pl.Series([f"slept badly, woke up {i} times" for i in range(40)]))
    'free text'
    """
    if not _is_text(column):
        return ""
    present = _present(column)
    counts = present.value_counts(name="n")
    distinct = counts.to_series(0)
    of_things, of_places = is_of_things(column.name), bool(PLACES & set(header_words(column.name)))
    known = KNOWN_THINGS if of_things else KNOWN
    if distinct.len() >= FEWEST_DOUBTFUL and not of_places and _are_known(present, known):
        return "looks like names of people"
    if not _hardly_repeat(counts, present.len()):
        return ""
    what = _described(distinct)
    return "" if of_things and what != PROSE else what


def _hardly_repeat(counts: pl.DataFrame, rows: int) -> bool:
    """Whether most values occur once; for many single words, whether each has few rows."""
    distinct, once = counts.height, int((counts["n"] == 1).sum())
    if distinct >= MOST_ONCE and once >= ONCE * distinct and distinct >= VARIED * rows:
        return True
    if distinct < LISTED or distinct < FEW_EACH * rows:
        return False
    return _share(counts.to_series(0), r"^\S+$") >= LIKE_NAMES


def _described(distinct: pl.Series) -> str:
    """What texts that hardly repeat look like; codes and numbers are recognised elsewhere."""
    if _share(distinct, _LONG_WORD) < LIKE_NAMES or _share(distinct, _MONTH) >= ONCE:
        return ""
    if float((distinct.str.count_matches(r"\s") >= LONG).mean() or 0) >= ONCE:  # type: ignore[arg-type]
        return PROSE
    if _share(distinct, _LETTERS) >= LIKE_NAMES:
        return "words that hardly repeat, as names do"
    several = _share(distinct, r"\S\s+\S") >= LIKE_NAMES
    return "texts that hardly repeat, as addresses do" if several else ""


def _is_text(column: pl.Series) -> bool:
    return column.dtype in (pl.String, pl.Categorical, pl.Enum)


def _present(column: pl.Series) -> pl.Series:
    texts = column.alias("").drop_nulls().cast(pl.String).str.strip_chars()
    return texts.filter(texts != "").str.slice(0, 500)


def _share(distinct: pl.Series, shape: str) -> float:
    some = distinct.head(LOOKED_AT)
    return int(some.str.contains(shape).sum()) / max(some.len(), 1)


def _are_known(present: pl.Series, single: float) -> bool:
    """Whether many rows have a common given or family name, alone or in a full name.

    >>> _are_known(pl.Series(["devin_rivera", "Peter Larsen", "Cui Hua"]), 0.12)
    True
    """
    counts = present.value_counts(name="n", sort=True).head(LOOKED_AT)
    alone = full = 0
    for text, times in counts.iter_rows():
        words = [without_accents(word) for word in re.split(r"[\s_,]+", text) if word]
        if COMMON & set(words):
            alone += times * (len(words) == 1)
            full += times * (2 <= len(words) <= MOST_WORDS)
    rows = max(present.len(), 1)
    return alone >= single * rows or full >= max(single, KNOWN_IN) * rows
