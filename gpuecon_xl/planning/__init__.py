"""A plan: which cards, how many and how divided serve a model at the lowest cost within limits.

Here: the question, the search over the whole catalogue, the answer with its reasons, the workbook, the command.
Not here: the equations (``equations/``), the recommendation among the listed builds that the Matrix gives (`recommendation`).
"""
