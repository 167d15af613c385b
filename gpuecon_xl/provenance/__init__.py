"""Where a figure comes from: a cell of a workbook down to its sources, and the prices of a card by date.

Here: `place` (which cell is meant), `lineage` (what it is made of), `sentences` (how that is printed), `history` (dated prices),
`history_book` (their workbook), `command` (``gpuecon explain`` and ``gpuecon price-history``).
"""
