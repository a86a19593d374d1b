"""Metadata that data catalogues and tools read, each file written from the manifest alone.

`croissant.json` follows Croissant 1.1 with its fields for responsible AI, `datapackage.json` the
Data Package standard of Frictionless, and `README.md` is a dataset card. They say nothing that the
manifest does not, so `verify` can write them again and compare the bytes. A licence, an address and
the creators are not in a manifest: whoever uploads the release adds them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import quote

from tamis.catalogue.formats import DESCRIPTIONS
from tamis.catalogue.measures import MEASURES
from tamis.catalogue.methods import RECORDED
from tamis.release_counts import public_words
from tamis.table_file import FEATURE, ROW
from tamis.verification.checks import target_column
from tamis.verification.claims import budget_claim, exposure_words
from tamis.verification.layout import NAME, REPORT, json_bytes

Manifest = Mapping[str, Any]
_MEDIA = {
    "csv": "text/csv",
    "long": "text/csv",
    "parquet": "application/x-parquet",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "sav": "application/x-spss-sav",
    "dta": "application/x-stata-dta",
    "svm": "text/x-libsvm",
}
"""The media type of each format of rows."""
_CROISSANT_COLUMNS = ("csv", "long", "parquet")
_PACKAGE_COLUMNS = (*_CROISSANT_COLUMNS, "xlsx")
"""Formats whose columns the tools of each standard can address by name."""


def described(content: Manifest) -> dict[str, bytes]:
    """The content of each description that a manifest lists, by file name."""
    wanted = {entry["name"] for entry in content.get("described", ())}
    return {name: describe(of, content) for of, name in DESCRIPTIONS.items() if name in wanted}


def describe(which: str, content: Manifest) -> bytes:
    """One description, "croissant", "datapackage" or "card", of the release of a manifest.

    >>> file = {"name": "release.csv", "format": "csv", "rows": 9, "sha256": "0", "missing": "",
    ...     "texts": ""}
    >>> ill = {"name": "ill", "header": "ill", "kind": "nominal", "role": "target"}
    >>> content = {"file": file, "columns": [ill], "date": "2026-01-31", "promises": [],
    ...     "method": {"name": "front", "parameters": {}}, "measured": [], "not_promised": [],
    ...     "versions": {"tamis": "1.0"}}
    >>> print(describe("card", content).decode().splitlines()[5])
    # Release to predict ill
    """
    return _WRITERS[which](content)


def _title(content: Manifest) -> str:
    return f"Release to predict {target_column(dict(content))['name']}"


def _summary(content: Manifest) -> str:
    features = sum(column["role"] == "feature" for column in content["columns"])
    drawn = "synthetic rows" if "budget" in content else "rows"
    return (
        f"{content['file']['rows']:,} {drawn} with {features:,} "
        f"{'feature' if features == 1 else 'features'} and the target, released by tamis "
        f"{content['versions']['tamis']} on {content['date']}. {NAME} states what is promised of "
        f"them, and {REPORT} says it for people to read."
    )


def _promised(content: Manifest) -> list[str]:
    """The promises, in the words of the manifest."""
    entries = [*content["promises"], *content.get("diversity", ())]
    claims = [entry["claim"] for entry in entries]
    if "presence" in content:
        claims.append(content["presence"]["claim"])
    return claims + ([budget_claim(content["budget"])] if "budget" in content else [])


def _alone(content: Manifest) -> list[str]:
    """Exposure in words."""
    if "exposure" not in content:
        return []
    return exposure_words(content["exposure"], target_column(dict(content))["name"])


def _made(content: Manifest) -> list[str]:
    """What was done to the original."""
    method = content["method"]
    given = (f"{name} = {_plain(value)}" for name, value in method["parameters"].items())
    steps = [f"{RECORDED[method['name']].words} ({'; '.join([method['name'], *given])})"]
    if held := content.get("held_back"):
        steps.append(f"{held:,} {'column is' if held == 1 else 'columns are'} held back.")
    return steps + [f"{c['name']}: {_coarser(c)}" for c in content["columns"] if "coarser" in c]


def _left_out(content: Manifest) -> list[str]:
    return [public_words(content["suppressed"])] if "suppressed" in content else []


def _figures(content: Manifest) -> Iterator[str]:
    """The figures measured on the release, with their intervals."""
    for entry in content["measured"]:
        low, high = entry.get("low"), entry.get("high")
        within = "" if low is None or high is None else f" ({low:g} to {high:g})"
        yield f"{MEASURES[entry['key']].words}: {entry['value']:g}{within}"


def _plain(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _coarser(column: Manifest) -> str:
    """How to read a generalised column."""
    return f"in a coarser form; {column['coarser']['read']}"


def _of_column(column: Manifest) -> str:
    """The description of a column, from everything that the manifest says of it."""
    codes = (f"{value} is {label}" for label, value in column.get("codes", {}).items())
    parts = [
        column.get("question", ""),
        "; ".join(codes),
        f"{column['role']} of the intervals of {column['of']}" if "of" in column else "",
        _coarser(column) if "coarser" in column else "",
        "what is to be predicted" if column["role"] == "target" else "",
    ]
    return ". ".join(part for part in parts if part)


def _fields(content: Manifest) -> list[tuple[str, str, str]]:
    """Header, kind and description of each column as the file has them."""
    if content["file"]["format"] != "long":
        return [(c["header"], c["kind"], _of_column(c)) for c in content["columns"]]
    target = target_column(dict(content))
    return [
        (ROW, "number", "the number of the row"),
        (FEATURE, "nominal", "a feature that the row has; empty where it has none"),
        (target["header"], "nominal", _of_column(target)),
    ]


_TERMS = {
    **{name: f"cr:{name}" for name in ("arrayShape", "citeAs", "column", "containedIn")},
    **{name: f"cr:{name}" for name in ("equivalentProperty", "extract", "field", "fileProperty")},
    **{name: f"cr:{name}" for name in ("fileObject", "fileSet", "format", "includes", "isArray")},
    **{name: f"cr:{name}" for name in ("isLiveDataset", "jsonPath", "key", "md5", "parentField")},
    **{name: f"cr:{name}" for name in ("path", "recordSet", "references", "regex", "repeated")},
    **{name: f"cr:{name}" for name in ("replace", "samplingRate", "separator", "source")},
    **{name: f"cr:{name}" for name in ("subField", "transform")},
}
_CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "name": {"@container": "@language"},
    "description": {"@container": "@language"},
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    **_TERMS,
}
"""What the terms of Croissant mean in JSON-LD; readers warn where one is not there."""
_CROISSANT_TYPES = {"number": "sc:Float", "date": "sc:DateTime", "nominal": "sc:Text"}


def _croissant(content: Manifest) -> bytes:
    file = content["file"]
    found = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": [
            "http://mlcommons.org/croissant/1.1",
            "http://mlcommons.org/croissant/RAI/1.0",
        ],
        "name": _title(content),
        "description": _summary(content),
        "datePublished": content["date"],
        "rai:dataUseCases": [f"{_title(content)}.", *_figures(content)],
        "rai:dataLimitations": list(content["not_promised"]),
        "rai:dataBiases": _left_out(content),
        "rai:personalSensitiveInformation": [*_promised(content), *_alone(content)],
        "rai:dataPreprocessingProtocol": _made(content),
        "rai:dataCollectionMissingData": f"A missing value is {file['missing']}.",
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": file["name"],
                "name": file["name"],
                "description": f"Texts: {file['texts']}",
                "contentUrl": file["name"],
                "encodingFormat": _MEDIA[file["format"]],
                "sha256": file["sha256"],
            }
        ],
        "recordSet": [_record_set(content)] if file["format"] in _CROISSANT_COLUMNS else [],
    }
    return json_bytes({key: value for key, value in found.items() if value})


def _record_set(content: Manifest) -> dict[str, Any]:
    fields = [
        {
            "@type": "cr:Field",
            "@id": f"rows/{quote(name, safe='')}",  # a URI, so other characters are escaped
            "name": name,
            "description": said,
            "dataType": _CROISSANT_TYPES[kind],
            "source": {
                "fileObject": {"@id": content["file"]["name"]},
                "extract": {"column": name},
            },
        }
        for name, kind, said in _fields(content)
    ]
    fields = [{key: value for key, value in field.items() if value} for field in fields]
    return {"@type": "cr:RecordSet", "@id": "rows", "name": "rows", "field": fields}


_PACKAGE_TYPES = {
    "number": {"type": "number"},
    "date": {"type": "datetime", "format": "any"},
    "nominal": {"type": "string"},
}
_ANY = {"type": "any"}
"""For typed formats: a manifest does not say whether a category is stored as text or boolean."""


def _datapackage(content: Manifest) -> bytes:
    file = content["file"]
    resource = {
        "name": "rows",
        "path": file["name"],
        "format": "csv" if file["format"] == "long" else file["format"],
        "mediatype": _MEDIA[file["format"]],
        "hash": f"sha256:{file['sha256']}",
        "description": f"A missing value is {file['missing']}. Texts: {file['texts']}",
    }
    text = file["format"] in ("csv", "long")
    if text:
        resource["encoding"] = "utf-8"
    if file["format"] in _PACKAGE_COLUMNS:
        fields = [
            {
                "name": name,
                **(_PACKAGE_TYPES[kind] if text or kind == "number" else _ANY),
                **({"description": said} if said else {}),
            }
            for name, kind, said in _fields(content)
        ]
        resource |= {"type": "table", "schema": {"fields": fields, "missingValues": [""]}}
    found = {
        "$schema": "https://datapackage.org/profiles/2.0/datapackage.json",
        "name": "release",
        "title": _title(content),
        "description": _summary(content),
        "resources": [resource],
    }
    return json_bytes(found)


def _card(content: Manifest) -> bytes:
    file = content["file"]
    columns = [
        f"| {_marked(c['header'])} | {c['kind']} | {c['role']} | {_marked(_of_column(c))} |"
        for c in content["columns"]
    ]
    head = ["---", "tags:", "- tabular", "---", "", f"# {_marked(_title(content))}"]
    parts = {
        "": [_marked(_summary(content))],
        "Columns": ["| column | kind | role | |", "|---|---|---|---|", *columns],
        "What was done": _items(_made(content) + _left_out(content)),
        "What is promised": _items(_promised(content)),
        "Who is like few others": _items(_alone(content)),
        "What is not promised": _items(content["not_promised"]),
        "What was measured": _items(_figures(content)),
        "How to read and check it": _items(
            [
                f"Rows: {file['name']}, SHA-256 {file['sha256']}.",
                f"A missing value is {file['missing']}. Texts: {file['texts']}",
            ]
        )
        + [
            "- `pip install tamis`, then `tamis verify .` in this folder counts the promises again."
        ],
    }
    lines = [*head]
    for title, said in parts.items():
        if said:
            lines += ["", *([f"## {title}", ""] if title else []), *said]
    return ("\n".join(lines) + "\n").encode()


def _items(texts: Any) -> list[str]:
    return [f"- {_marked(text)}" for text in texts]


def _marked(text: str) -> str:
    """A text on one line of Markdown, with every character that would be markup escaped."""
    return re.sub(r"([\\`*_\[\]<>|~#$&])", r"\\\1", " ".join(text.split()))


_WRITERS: dict[str, Callable[[Manifest], bytes]] = {
    "croissant": _croissant,
    "datapackage": _datapackage,
    "card": _card,
}
