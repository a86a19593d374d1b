"""Differential privacy: a budget and its ledger, public domains, tables drawn from noisy counts."""
