"""Variance: which inputs differ between two books or catalogues, and what each difference did to cost and recommendation.

Here: `changes` (what differs), `attribution` (what each change did), `words` (both in a language), `book` (the workbook),
`command` (``gpuecon diff``).
"""
