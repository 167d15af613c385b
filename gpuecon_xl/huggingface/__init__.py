"""A row of ``catalog/models.csv`` from a model's Hugging Face ``config.json``, read from a local file.

Here: `configuration` reads the file, `blocks` counts parameters of building blocks, `families` and `towers` know how an
architecture is put together, `formats` reads the number format, `row` makes the row, `command` is ``gpuecon model``.
``defaults.toml`` holds what published files leave out. Not here: any download, and what the columns mean (`schema`).
"""
