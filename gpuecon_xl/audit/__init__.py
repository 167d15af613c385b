"""Checking a book that people edited: what is no longer as the template made it, and which inputs cannot be relied on.

Here: findings with sheet, cell and what it should be. Not here: refusing a book that cannot be computed (`reader`); no book is changed.
"""
