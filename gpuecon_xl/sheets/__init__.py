"""The workbook: one module per sheet says WHAT is on it; `model` is the vocabulary, `gpuecon_xl.writer` says HOW."""
