"""`tamis serve`: the whole flow in a browser, on the person's own machine.

::

    server      binds to 127.0.0.1, runs until it is told to end; addresses, answers to errors
    access      who may come in: host, token, cookie, origin; what they may send, bounded
    steps       from choosing a table to progress, each with its page and its form
    releasing   the comparison, what would be published, publishing
    checking    a release from elsewhere, dropped in and verified
    app_state   what is open and under way; starts what takes a while
    project     one table on its way: columns, settings, drafts, on disk; as a command line
    workspace   the private folder that holds all this
    fields      what can be asked for, each in a sentence; ladders as they are typed and shown
    work        processes: their progress, how they are stopped
    look        what the columns hold (in a process of its own)
    hand_over   a draft becomes a folder to share (in a process of its own)
    archive     a release as one file, and back
    pages       templates, style and script, with the policy that allows only these; drawings

The server computes nothing and imports nothing heavy: a table is read, audited, released and
verified by the commands that a terminal would run, so a page answers at once while they work.
"""

SERVED = "TAMIS_SERVED"
"""Set in the environment of `tamis release` by the server: it then tells its progress as lines of
JSON and stays for more, see `tamis.cli.release.run`."""
