"""`tamis serve`: the whole flow in a browser, on the person's own machine.

::

    server      binds to 127.0.0.1, runs until it is told to end; addresses, answers to errors
    access      who may come in: host, token, cookie, origin; what they may send, bounded
    steps       from choosing a table to progress, each with its page and its form
    releasing   the comparison, what would be published, publishing; releases from elsewhere
    app_state   what is open and under way; starts what takes a while
    project     one table on its way: columns, settings, drafts, as a command line; its workspace
    fields      what can be asked for, each in a sentence; ladders as they are typed and shown
    work        processes: their progress, how they are stopped
    tasks       what runs in such a process: what columns hold, how a draft becomes a folder
    pages       templates, style and script, with the policy that allows only these; drawings

The server computes nothing and imports nothing heavy: a table is read, audited, released and
verified by the commands that a terminal would run, so a page answers at once while they work.
"""

SERVED = "TAMIS_SERVED"
"""Set in the environment of `tamis release` by the server: it then tells its progress as lines of
JSON and stays for more, see `tamis.cli.release.run`."""
