"""The one table of options: what commands, configuration files, pages and `Settings` take.

`tamis.option` has the record of one. Here are all of them, and who takes which:

::

    reading     how a table is read, what counts it, what is printed
    release     what `tamis release` promises, writes, searches and chooses; synthetic rows
    steps       what the commands of single steps are asked
    commands    which command takes which, and where it lives

Nothing here imports more than the errors, so that a help is printed at once.
"""
