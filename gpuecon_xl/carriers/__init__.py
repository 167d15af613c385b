"""How spreadsheets call the functions: thin, generated from `gpuecon_xl.functions_table`, without logic of their own.

Here: the input and output layer that all carriers share (`arguments`), one module for each carrier.
Not here: what the functions compute (`gpuecon_xl.functions`).
"""
