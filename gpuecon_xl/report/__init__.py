"""The report of an edited workbook: values only, for a mail previewer and a phone.

`figures` reads the book, `content` decides what is said, `workbook` and `mail` write it, `send` hands it to a mail server.
"""
