"""From a chosen release to files: the summary of a run, its page, the bundle and the check."""
