"""What `tamis verify` checks, in words for people.

Apart from the checks, so that pages can name them without the libraries that count.
"""

CHECK_WORDS = {
    "manifest": "The manifest is complete and well formed, and has nothing that none has.",
    "files": "There is no file that does not belong to a release.",
    "hash": "The rows and the report are those that the manifest was written for.",
    "schema": "The columns are those that the manifest lists.",
    "form": "The file holds its rows and nothing else, byte by byte.",
    "codes": "Codes are stated of values that are in the file alone.",
    "not_promised": "What is not promised is said in full.",
    "k_anonymity": "People who look alike were counted again.",
    "containment_anonymity": "People who have the same facts were counted again.",
    "method": "What the method did to the columns fits the promises.",
    "ladders": "Every coarser value is one that the manifest describes.",
    "people": "People with several rows count once.",
    "suppressed": "The share of those who were left out fits the rows.",
    "diversity": "How alike the secrets of a group are was counted again, where it is promised.",
    "delta-presence": "Who may be in the table was counted again, where it is promised.",
    "exposure": "Those who stand alone were counted again.",
    "budget": "The stated parts of a privacy budget add up, where rows were drawn.",
    "identifiers": "No column that says who someone is was released.",
    "private": "The private part belongs to this release, where it is there.",
}
"""By the name of a check, as `verify` gives it in JSON."""
