"""Quotes: from a short request to the workbook that a customer gets.

Here: the road request -> `request` (checked fields) -> `offer` (what the customer may see) -> `book` (the file); `many`, `pdf`.
Nothing behind `offer` knows purchase prices or margins, so that no file can hold them.
"""
