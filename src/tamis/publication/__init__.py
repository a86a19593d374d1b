"""From a chosen release to files: rows, manifest, reports and dossier. It trains no model.

::

    bundle          `tamis.publish`: the folder to share, and the private part for the holder
    recipe          the holder's record of the request and its result
    streamed        writing the rows of a table behind an engine
    manifest        `manifest.json`: what was released and what is promised
    dossier         the form that a privacy officer completes and signs
    report          the report as a page, for the holder or for recipients
    report_parts    words and arithmetic that the report shows
    page            templates, escaping and the content security policy of all pages
    read_back       a published folder read again, for `tamis retain` and `tamis release --earlier`
"""
