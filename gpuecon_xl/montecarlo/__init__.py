"""Chance: what owning costs when every range is drawn from at once, and how often it beats renting.

Here: `draw` (the draws and their quantiles), `book` (the workbook of a run), `command` (``gpuecon risk``).
"""
