"""Learners made for scoring many sets of features under cross-validation."""
