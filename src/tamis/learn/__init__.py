"""Learners built to score many sets of features under cross-validation."""
