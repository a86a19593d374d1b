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

# A second time, by somebody else, when the lists had been extended with what the first missed.
NAMES_AGAIN = (
    "first_nm|LASTNM|F_NAME|l_name|Forenames|sname|PatientName|pat_name|ClientName|"
    "insured_name|policyholder|defendant|plaintiff_name|claimant|mothers_maiden_name|"
    "maiden_name|nok_name|next_of_kin|contact_person|guardian|EmpName|full_nm|preferred_name|"
    "nickname|alias|aka|middlename|owner_name|voter_name|resp_first|resp_last|suspect|Zuname|"
    "Geburtsname|Rufname|Patientenname|Ansprechpartner|Versicherter|nom_naissance|"
    "nom_jeune_fille|prenom_usuel|nom_prenom|nom_patient|primer_apellido|apellido_paterno|"
    "apellidos_nombre|nombres|segundo_nombre|sobrenome|nome_mae|nome_paciente|nominativo|"
    "cognome_nome|achternaam|roepnaam|naam_patient|tilltalsnamn|efternamn|etternavn|etunimi|"
    "eiginnafn|kenninafn|imie_nazwisko|prijmeni|příjmení|krestni_jmeno|priezvisko|priimek|"
    "prezime|vezeteknev|keresztnev|beteg_neve|nume_familie|prenume|familiya|otchestvo|Фамилия|"
    "Имя|ФИО|prizvyshche|adi_soyadi|soyad\u0131|eponymo|επώνυμο|mbiemri|eesnimi|perekonnanimi|"
    "uzvards|pavardė|abizena|cognoms|cyfenw|sloinne|kunjom|nama_lengkap|nama_pasien|pangalan|"
    "apelyido|ho_ten|họ_tên|jina|姓名|氏名|이름|الاسم|שם_משפחה|नाम"
)
IDS_AGAIN = (
    "patno|pat_nr|PatientNr|ptid|pt_id|PTNUM|subject_no|SubjectNumber|RECORD_ID|participantid|"
    "part_no|respno|RESPNUM|casenum|HHNUM|hhold|household_no|famid|PERSID|pers_no|personnr|"
    "personnummer|fodselsnummer|CPR|henkilotunnus|hetu|PESEL|rodne_cislo|taj|CNP|EGN|JMBG|OIB|"
    "AMKA|codice_fiscale|NIE|DNI|CURP|CPF|RUT|cedula|SSN|SIN|NINO|NHS_number|BSN|AHV|SVNR|NIR|"
    "TFN|medicare_no|aadhaar|NRIC|nik|hospital_no|chart_no|account_no|cust_id|custnum|clientno|"
    "mbr_id|MEMNO|subscriber_id|enrolid|enrollee_id|bene_id|DESYNPUF_ID|hicno|pidp|pidlink|"
    "nomem_encr|pernr|persnr|sernum|stu_id|studentnr|matrikelnummer|matricule|empno|"
    "EmployeeNumber|staff_no|badge_no|userid|uid|player_id|donor_id|prisoner_no|inmate_id|"
    "offender_id|booking_no|voter_id|policy_no|Patientennummer|Fallnummer|Versichertennummer|"
    "numero_dossier|num_patient|nip|ipp|id_beneficiaire|numero_historia|nhc|expediente|"
    "prontuario|id_utente|tessera|cartella|patientnummer|klantnummer|lidnummer|deltagarnr|"
    "lopnr|journalnummer|borgernr|potilasnumero|asiakasnumero|nr_pacjenta|numer_klienta|"
    "cislo_pacienta|beteg_azonosito|nr_pacient|hasta_no|tc_kimlik|musteri_no|no_rekam_medis|"
    "id_pasien|kod_pacjenta|пациент_id|номер_карты"
)
SCALES_AGAIN = (
    "infant|toddler|child|teen|adult|senior",
    "primary|lower secondary|upper secondary|bachelor|master|doctorate",
    "cold|cool|mild|warm|hot",
    "very unlikely|unlikely|neutral|likely|very likely",
    "strongly oppose|oppose|neither|support|strongly support",
    "none|trace|1+|2+|3+",
    "I|II|III|IV|V",
    "T1|T2|T3|T4",
    "N0|N1|N2",
    "ASA 1|ASA 2|ASA 3|ASA 4",
    "<1 year|1-4 years|5-9 years|10+ years",
    "under 18|18 to 24|25 to 44|45 to 64|65 and over",
    "0|1-2|3-5|>5",
    "$0-$10k|$10k-$25k|$25k-$50k|$50k+",
    "daily|weekly|monthly|yearly|never",
    "nie|selten|manchmal|oft|immer",
    "jamais|parfois|souvent|toujours",
    "nunca|a veces|siempre",
    "mai|talvolta|spesso|sempre",
    "sehr schlecht|schlecht|mittel|gut|sehr gut",
    "aldrig|ibland|ofta|alltid",
    "nooit|soms|vaak|altijd",
    "nigdy|czasami|często|zawsze",
    "underweight|normal weight|overweight|obese",
    "benign|borderline|malignant",
    "Grade 1|Grade 2|Grade 3",
    "small|medium|large|extra large",
    "XS|S|M|L|XL|XXL",
    "Q1|Q2|Q3|Q4",
    "no schooling|some high school|high school graduate|some college|college degree|postgraduate",
    "poor|fair|good|very good|excellent",
    "not at all|a little|somewhat|very much",
    "low|moderate|high|very high",
    "negligible|minor|moderate|major|extreme",
    "niedrig|mittel|hoch",
    "faible|moyen|élevé",
    "bajo|medio|alto",
)
ORDINARY_AGAIN = (
    "voter_turnout pid_count n_ids caseload rut_depth uid_rate sin_theta tajs nip_score pan_temp "
    "cpr_minutes employees students_per_class persons_in_house famsize hh_income unit_price"
)
CATEGORIES_AGAIN = (
    "status ward first_visit last_contact_mode name_of_drug brand_name firm_type suffix last_grade "
    "first_language street_type address_known house_type phone_os mobile_plan account_type "
    "member_tier policy_type case_type patient_class subject hospital county occupation owner_type "
    "guardian_type nom_commercial adresse_type cell_type tessera_type badge_colour "
    "donor_type sample_type batch chart_type record_type"
)
