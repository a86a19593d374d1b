"""0/1 records: who has what, how a table becomes such records, and how they are counted."""
