"""From a chosen release to files: the summary of a run, its pages, the bundle. It trains nothing.

::

    bundle          `tamis.publish`: the folder to share, and the part that the holder keeps
    recipe          what the holder keeps: what was asked for, and what came out
    streamed        the rows of a table behind an engine, and what is stated of them
    manifest        `manifest.json`: what was released and what is promised
    dossier         what a privacy officer completes and signs
    report          an analysis with what the written file reaches, as a page for its readers
    report_parts    what it shows that needs words or arithmetic
    page            what every page needs
    read_back       a folder beside its original, for `tamis retain` and `tamis release --earlier`
"""
