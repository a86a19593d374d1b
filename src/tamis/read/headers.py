"""What a column's header means: a person's number, or a place, a time, an amount or a thing.

The words of a header are joined before they are matched, so that `KundenNr`, `kunden_nr` and
`Kundennr` are the same. A header names a person's number if it is

- a word for a person with a word for a number, before or after it: `patient_id`, `num_client`;
- an abbreviation of one with a word for a number: `subjid`, `hh_no`, `id_ind`;
- a number that only people have (`mrn`, `nss`), or `id` alone;
- a word for a person alone (`subject`), or one that may mean such a number (`phone`); both need
  values that fit.

Other words may precede the first two: `anonymous_patient_id`. Plurals are counts (`n_patients`).
Any other word rules it out: `patient_age` is nobody's number.
"""

from __future__ import annotations

import re
from functools import cache

import polars as pl

from tamis.people import header_words, is_code

DIGITS = 7
"""Fewest digits of a telephone number."""
SHORTEST = 4
"""Fewest characters of a number under an ambiguous header: `mail` may count letters sent."""
VARIED = 0.1
"""Least distinct values per row under a header that is a word for a person."""

_PERSON = """
patient person individual subject customer client user member employee student participant
respondent citizen voter proband volunteer inmate offender prisoner detainee defendant beneficiary
insured policyholder applicant claimant borrower tenant subscriber enrollee cardholder donor pupil
learner panelist shopper rider athlete player resident taxpayer passenger household usubj subj
kunde klient mitglied mitarbeiter versicherter teilnehmer haushalt schueler schuler
malade assure allocataire salarie eleve etudiant adherent beneficiaire usager menage individu abonne
paciente cliente persona usuario alumno empleado afiliado encuestado individuo
paziente utente dipendente studente assistito
pessoa aluno funcionario utilizador hhold borger
klant persoon deelnemer leerling medewerker
kund pasient medlem deltager deltaker elev potilas asiakas henkilo jasen
pacjent pracownik pacient zakaznik zamestnanec beteg ugyfel szemely musteri ogrenci pasien pelanggan
pacjenta klienta pacienta pacijenta pacijent benhnhan
"""
_SHORT = """
usubj subj pat p pt case bib nin sin nie rut cpr phone mobile telephone telefon mail
hh hhold resp memb cust cli emp staff stud pers ind indiv ptcpt
family fam child mother mom twin animal bene account acct card policy study rand enrol screen
screening nurse doctor physician provider u x vict def loan worker panel chart driver dossier
casus docket candidate cand badge serial device cookie visitor licence license loyaltycard loyalty
personal patienten kunden klienten mitglieds mitglieder versicherten versicherungs
sozialversicherungs teilnehmer probanden haushalts matrikel schueler steuer fall
secu securitesociale foyer expediente socio hogar famiglia prontuario utilizator
clienten persoons lid burgerservice person kunde medlems hasta kisi uye tckimlik kimlik
potilas henkilo asiakas rodne osoba chi pan nir medrec membership historia tessera relatie
mem hic medicare medicaid deltagar
"""
"""Abbreviations of people, and things that stand for them, beside a word for a number."""
_NUMBERS = """
ssn nss nhs mrn npi mpi empi medrec ipp nip nhc nif dni cpf curp cuil cuit cedula
bsn hetu henkilotunnus pesel oib jmbg egn cnp aadhaar aadhar tckn tckimlik kimlik rodnecislo
kennitala isikukood asmenskodas codicefiscale codfiscale codfisc svnr ahv numsecu secu
historiaclinica matricule matricola matricula dossard passport passeport reisepass driverlicense
driverslicense drivinglicence licenseplate licenceplate numberplate immatriculation rijbewijs
fuehrerschein iban msisdn imei imsi idfa gaid username userid login screenname twitterhandle
surname firstname lastname fullname forename uid hid seqn pidp pidlink hhidpn enrolid desynpufid
recordlocator lopnr lopnummer rekammedis pernr sernum nomemencr fodselsnummer journalnr
journalnummer номеркарты
"""
"""Numbers and names that only people have."""
_MAYBE = """
nin sin nie rut cpr bib serial licence license email mail phone telephone telefon mobile badge
loyaltycard expediente prontuario nino nir tfn nric nik taj amka tessera cartella
"""
"""Numbers that count as people's only if the values are long enough."""
_PHONE = """
phone cell cellphone tel fax gsm whatsapp handy festnetz telefon telephone portable telefono movil
celular telemovel cellulare telefoon mobiel mobil mobile puhelin matkapuhelin komorka telefonas
hp dienthoai emergencycontact ceptelefonu
"""
"""Words for telephones, whose numbers have seven digits or more; shorter ones may count calls."""
_AFTER = """
id ids idno idnum idnr uid uuid guid no nr nbr num number nummer numero nro numer numarasi cislo
szam lbnr lobenr key hash token ref reference pseudonym kennung tunnus azonosito
"""
NUMBERED = frozenset(_AFTER.split())
"""Words that say that something is numbered."""
_BEFORE = "id num numero no nr cod code kod ref numer cislo broj nomor codice codigo ma so"
_THINGS = """
product item sku stock article goods part movie film book song track album drug medication medicine
substance school university hospital clinic ward site centre center facility store shop branch
outlet company firm employer industry sector vendor supplier bank brand make model variety species
genus breed strain flight route station airport color colour language nationality occupation job
profession trade diagnosis diagnoses disease symptom icd cim cie atc cpt drg procedure category
genre team club league party religion course department dept grid gene protein compound material
crop plant food dish reason cause complaint charge offense offence crime origin destination currency
vehicle car carline position role manufacturer publisher
beruf diagnose produkt artikel schule krankenhaus klinik firma branche marke modell sprache
metier produit medicament ecole hopital entreprise marque modele langue diagnostic
ocupacion producto escuela hospital empresa marca idioma diagnostico prodotto scuola azienda lingua
"""
_PLACES = """
zip zipcode postcode postal plz cp city town county district region state province commune
parish fips tract msa area place municipality village street precinct block country location
neighborhood neighbourhood hometown birthplace borough constituency suburb
stadt ort gemeinde kreis land ville pays departement ciudad pais provincia municipio citta comune
paese cidade
"""
_TIMES = """
date day month year week quarter time timestamp hour period wave jahr monat annee mois anno ano
"""
_AMOUNTS = """
population pop income weight weights price salary salaries wage wages pay earnings cost costs amount
expend expenditure expenditures expense expenses spending budget revenue sales turnover assets debt
balance rate mileage miles kilometers kms distance score count total
einkommen gehalt lohn umsatz preis revenu revenus salaire prix ingreso ingresos salario precio renta
reddito stipendio prezzo renda
"""
PLACES = frozenset(_PLACES.split())
AMOUNTS = frozenset(_AMOUNTS.split())
ELSEWHERE = PLACES | AMOUNTS | frozenset(f"{_THINGS} {_TIMES}".split())
"""Words for what many people share; other columns may be constant within it, as within a person."""


_SURVEY = """
survey sample sampling design stratification poststratification psp post person household population
final expansion probability analysis frequency full base replicate
"""
_WEIGHTS = """
pspwght pspwgt dweight hweight anweight cweight gewichtung gewichtungsfaktor hochrechnungsfaktor
phrf hhrf fexc factri factorexpansion pondera ponderacion ponderation pondfin poidsind poidsmen
"""
_WEIGHTED = re.compile(
    r"(?:[av]|sp|llc)?(?:p|per|pers|person|hh|hhold|household|ind|indiv|psp|fin|final|fnl|x|"
    r"samp|sample|sampling|base|strat|pop|exp|rake|raking|nr|calib|asec|marsup|earn|comp|panel|"
    r"cross|long|cal)(?:weight|wght|wgt|wt)s?(?:p|fin|final)?"
    r"|wgtp|(?:weight|wght|wgt|wt)(?:fin|finl|final|mec|int|ss|ssall|ssps|ssnr|per|hh|ind)(?:yr)?"
)
"""A word for what is weighted, or how, joined to one for a weight."""
HEAVY = 20_000
"""A mean this large is nobody's own weight, neither in kilograms nor in grams."""
SURVEY, SURVEY_WEIGHTS = frozenset(_SURVEY.split()), frozenset(_WEIGHTS.split())

_IDS = frozenset({"id", "ids", "idno", "idnum", "idnr"})
PEOPLE = frozenset(_PERSON.split())
"""Words for a person."""
_MAYBES = frozenset(_MAYBE.split())


def is_of_things(name: str) -> bool:
    """Whether a header names a place, a time, an amount or a thing rather than a person.

    >>> is_of_things("product_id"), is_of_things("job title"), is_of_things("who")
    (True, True, False)
    """
    return bool(ELSEWHERE & set(header_words(name)))


def is_of_amounts(name: str) -> bool:
    """Whether a header names an amount of something, and not a number that identifies.

    >>> is_of_amounts("MonthlyIncome"), is_of_amounts("income_id"), is_of_amounts("account")
    (True, False, False)
    """
    words = set(header_words(name))
    return bool(AMOUNTS & words) and not words & NUMBERED


def is_survey_weight(column: pl.Series, question: str = "") -> bool:
    """Whether a column is a survey weight (how many of a population a row represents).

    Decided by its header, its question and its values. `weight` alone may be a person's, so another
    word must say that it is a survey's, or the values must be more than anybody weighs.

    >>> kilos = pl.Series([71.5, 80.25, 64.0])
    >>> is_survey_weight(kilos.alias("weight")), is_survey_weight(kilos.alias("pspwght"))
    (False, True)
    >>> is_survey_weight(kilos.alias("w"), "Post-stratification weight")
    True
    """
    words = header_words(column.name)
    asked = {*words, *header_words(question)}
    weight = bool({"weight", "weights", "wgt", "wght", "wt"} & asked)
    named = {*words, "".join(words), "".join(header_words(column.name.lower()))}
    sure = bool(SURVEY_WEIGHTS & named) or any(map(_WEIGHTED.fullmatch, named))
    sure = sure or (weight and bool(SURVEY & asked))
    if not (sure or weight) or not column.dtype.is_numeric() or column.null_count():
        return False
    values = column.alias("").cast(pl.Float64)
    heavy = float(values.mean() or 0) >= HEAVY  # type: ignore[arg-type]
    return (sure or heavy) and values.n_unique() > 2 and bool((values > 0).all())


def is_headed_as_id(name: str) -> bool:
    """Whether a header names only a person or their number: patient_nbr, but not patient_age.

    >>> [is_headed_as_id(n) for n in ("usubjid", "MemberID_t", "case_no", "patient_age", "paid")]
    [True, True, True, False, False]
    >>> [is_headed_as_id(n) for n in ("Kundennummer", "n° sécu", "id_paciente", "n_patients")]
    [True, True, True, False]
    """
    return _how_headed(name) != ""


def names_person(column: pl.Series) -> bool:
    """Whether a column's header names a person's number, and its values fit.

    >>> names_person(pl.Series("mail", [3, 17])), names_person(pl.Series("mrn", [70_017, 70_018]))
    (False, True)
    """
    how = _how_headed(column.name)
    if how == "person":
        present = column.alias("").drop_nulls()
        return is_code(column) or present.n_unique() >= VARIED * present.len()
    if how == "maybe":
        texts = column.alias("").drop_nulls().cast(pl.String)
        return 2 * int((texts.str.len_chars() >= SHORTEST).sum()) > texts.len()
    if how == "phone":
        digits = column.alias("").drop_nulls().cast(pl.String).str.count_matches(r"\d")
        return 2 * int((digits >= DIGITS).sum()) > digits.len()
    return how != ""


@cache
def _how_headed(name: str) -> str:
    """How a header names a person's number: "sure", "person", "maybe", "phone" or ""."""
    every = header_words(name)
    words = [w for w in every if len(w) > 1]
    joined = "".join(words)
    if every[1:] == ["ids"]:  # `n_ids` counts them
        return ""
    if joined in _IDS or any(_BOTH.fullmatch("".join(words[at:])) for at in range(len(words))):
        return "sure"
    if joined in PEOPLE:
        return "person"
    if _NUMBER.fullmatch(joined):
        return "sure"
    if joined in _MAYBES:
        return "maybe"
    return "phone" if _TELEPHONE.fullmatch(joined) else ""


def _one_of(words: str) -> str:
    return "|".join(sorted(set(words.split()), key=len, reverse=True))


_BOTH = re.compile(
    rf"(?:{_one_of(_PERSON)})(?:{_one_of(_AFTER)}|code|kod)+"
    rf"|(?:{_one_of(_BEFORE)})(?:{_one_of(_PERSON)})"
    rf"|(?:{_one_of(_SHORT)})(?:{_one_of(_AFTER)})+"
    rf"|(?:id|num|numero)(?:{_one_of(_SHORT)})|nodossier|partid|kdnr"
)
_NUMBER = re.compile(rf"(?:{_one_of(_BEFORE)})?(?:{_one_of(_NUMBERS)})(?:{_one_of(_AFTER)})*")
_TELEPHONE = re.compile(rf"(?:{_one_of(_BEFORE)})?(?:{_one_of(_PHONE)})(?:{_one_of(_AFTER)})*")
