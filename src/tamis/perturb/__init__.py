"""Releases that alter values: noise, flipping, and tables drawn under differential privacy."""
