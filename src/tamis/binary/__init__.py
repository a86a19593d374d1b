"""0/1 records: how a table becomes such records, and how they are checked and counted."""
