"""Headers and scales that were written down before any list of words in tamis was read.

They measure how far the lists reach, so nothing is added here because a detector finds it, and none
is taken out because it does not.
"""

from __future__ import annotations

NAMES = (
    "given name|forename|family_name|middle_name|maiden name|FullName|patient_name|"
    "contact_person|Rufname|Familienname|Geburtsname|Name_Patient|Vor- und Nachname|"
    "nom_de_famille|Prenoms|nom_patient|nom_jeune_fille|nombres|apellido_paterno|primer_apellido|"
    "nombre_completo|nome_completo|sobrenome|primeiro_nome|nome_mae|nome_e_cognome|nominativo|"
    "cognome_paziente|achternaam|voornaam|naam_patient|roepnaam|efternamn|förnamn|tilltalsnamn|"
    "namn|etternavn|fornavn|mellomnavn|efternavn|fornavne|navn|etunimi|sukunimi|koko_nimi|imie|"
    "nazwisko_rodowe|imię_i_nazwisko|jmeno|prijmeni|křestní jméno|vezeteknev|keresztnev|"
    "teljes_nev|prenume|nume_familie|nume|ad_soyad|soyadi|isim|prezime|ime|ime_prezime|vardas|"
    "pavarde|eesnimi|perekonnanimi|nama_lengkap|nama_depan|ho_ten|ho_va_ten|cognoms|nom_complet|"
    "familiya|imya|otchestvo|fio|onoma|eponymo"
)
IDS = (
    "participant_no|respondent_id|enrollee_number|subscriber_id|record_locator|account_no|"
    "policyholder_id|employee_nr|student_id|client_ref|study_number|hosp_num|membership_no|"
    "customer_key|person_key|beneficiary_id|user_uid|chart_number|panelist|donor_code|"
    "Patientennummer|Fallnummer|Versichertennr|Mitgliedsnummer|Personalnummer|PatID|"
    "Probandennummer|numero_patient|no_dossier|matricule|num_adherent|id_assure|num_historia|"
    "numero_cliente|id_socio|cedula|expediente|numero_utente|matricula|cod_cliente|prontuario|"
    "codice_paziente|codice_fiscale|numero_tessera|id_assistito|patientnummer|klantnummer|"
    "relatienummer|deelnemer_id|kundnummer|patient_nr|lopnr|pasient_id|personnummer|cpr_nr|"
    "patient_lbnr|borger_id|potilasnumero|asiakasnumero|henkilo_id|nr_pacjenta|numer_klienta|"
    "cislo_pacienta|rodne_cislo|betegazonosito|ugyfelszam|cod_pacient|cnp|hasta_no|musteri_no|"
    "broj_pacijenta|oib|no_rekam_medis|nomor_pasien|ma_benh_nhan|num_pacient"
)
PHONES = (
    "phone_number|mobile|cell|tel|Handynummer|Festnetz|téléphone|portable|telefono|movil|celular|"
    "telemovel|cellulare|telefoonnummer|mobiel|mobilnummer|telefonnummer|puhelin|matkapuhelin|"
    "komorka|telefon|mobil_szam|cep_telefonu|telefonas|nomor_hp|so_dien_thoai|fax_no|"
    "emergency_contact_no|gsm|whatsapp"
)
ADDRESSES = (
    "street_address|home_addr|residence|Anschrift|Strasse|Wohnanschrift|adresse_domicile|rue|"
    "domicilio|calle|endereco|morada|rua|indirizzo|via_residenza|adres|straat|adress|gatuadress|"
    "gateadresse|osoite|katuosoite|ulica|adresa|lakcim|utca|strada|sokak|adresas|aadress|alamat|"
    "dia_chi|adreca|mailing_address|address_line_1"
)
INNOCENT = {
    "cat": (
        "region district city county ward clinic department specialty diagnosis drug brand "
        "model make colour species breed genus occupation industry employer_size education "
        "school_type degree language nationality country_of_birth religion age_group sex "
        "marital_status weekday quarter season grade stage product product_category store "
        "branch channel payment_method currency fuel transmission first_symptom name_of_drug "
        "case_type address_type client_segment id_type nom_commune ort comuna beruf metier"
    ),
    "code": "icd10 procedure_code atc_code",
    "int": (
        "age height_cm systolic diastolic pulse duration_days points dose_mg latitude_band "
        "altitude speed horsepower mileage"
    ),
    "small": (
        "household_size n_children visit_no month hour rank rating level quantity doors "
        "number_of_claims person_count phone_calls anzahl nombre_hijos numero_visite"
    ),
    "money": "income salary rent expenses amount prix",
    "dec": (
        "bmi weight_kg temperature glucose cholesterol creatinine score discount distance_km "
        "engine_size"
    ),
    "date": "visit_date admission_date datum",
    "year": "year last_visit_year",
    "lot": "batch lot",
}
"""Ordinary columns by the kind of their values."""
SCALES = (
    "never|rarely|sometimes|often|always",
    "strongly disagree|disagree|neutral|agree|strongly agree",
    "very poor|poor|fair|good|excellent",
    "none|mild|moderate|severe",
    "low|medium|high",
    "XS|S|M|L|XL|XXL",
    "primary school|lower secondary|upper secondary|bachelor|master|doctorate",
    "No schooling|Elementary|High school|Some college|College degree|Graduate degree",
    "<18|18-24|25-34|35-44|45-54|55-64|65+",
    "0-4|5-9|10-14|15-19|20+",
    "under 10k|10k-20k|20k-50k|50k-100k|over 100k",
    "< 1 year|1-5 years|6-10 years|more than 10 years",
    "Stage I|Stage II|Stage III|Stage IV",
    "grade 1|grade 2|grade 3",
    "T1|T2|T3|T4",
    "ECOG 0|ECOG 1|ECOG 2|ECOG 3",
    "Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday",
    "January|February|March|April|May|June|July|August|September|October|November|December",
    "nie|selten|manchmal|oft|immer",
    "sehr schlecht|schlecht|mittel|gut|sehr gut",
    "niedrig|mittel|hoch",
    "jamais|rarement|parfois|souvent|toujours",
    "faible|moyen|élevé",
    "nunca|a veces|siempre",
    "bajo|medio|alto",
    "very dissatisfied|dissatisfied|satisfied|very satisfied",
    "1 - not at all|2 - a little|3 - somewhat|4 - very much",
    "small|medium|large",
    "light|moderate|heavy",
    "0|1-2|3-5|6 or more",
    "first|second|third|fourth",
    "A1|A2|B1|B2|C1|C2",
    "underweight|normal|overweight|obese",
    "slightly|moderately|very|extremely",
    "daily|weekly|monthly|yearly",
    "less than 20 hours|20-39 hours|40 hours|more than 40 hours",
)
NO_SCALES = (
    "north|south|east|west",
    "red|green|blue|yellow",
    "married|single|divorced|widowed",
    "cash|card|transfer",
    "Toyota|Ford|BMW|Fiat",
    "surgery|cardiology|oncology|neurology",
    "employed|unemployed|retired|student",
    "Catholic|Protestant|Muslim|None|Other",
    "apple|pear|plum",
    "A|B|AB|0",
    "car|bus|train|bicycle|walk",
    "male|female|other",
    "French|German|Dutch",
    "own|rent|with parents",
    "yes|no|unknown",
    "day|night|rotating",
    "urban|rural|suburban",
    "web|phone|mail",
    "cat|dog|horse",
    "wood|brick|steel|glass",
    "Jazz|Rock|Classical",
    "oral|rectal|topical",
    "left|right|both",
    "sun|rain|snow",
)
