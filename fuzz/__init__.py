"""The harness that never sleeps: long runs that try to break what tamis promises.

`tests/` has the short forms, which run with every change; here the same promises are attacked for
as long as one likes, and what was withstood is written to a page.
"""
