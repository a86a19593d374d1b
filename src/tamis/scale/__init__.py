"""The main job on a table beyond memory: search on a sample, count and publish all rows.

What to release is learnt from a sample (`search`). Columns in coarser forms are made where the rows
are (`coarse`). What is promised is counted on all rows by the engine, the file is streamed in an
order that reveals nothing (`writing`), and another engine verifies it (`verifying`).
"""
