"""Releases that alter values: noise, and flipping until rows are identical."""
