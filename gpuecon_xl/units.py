"""Unit factors: the only numbers that may stand inside an equation or a formula.

Here: conversions and the definitions that give a formula its shape (two floating-point operations in a multiply-add).
Not here: any measured, assumed or quoted number; those live in ``catalog/`` with a source.
"""

from __future__ import annotations

GIGA = 1_000_000_000  # 1 in G
MEGA = 1_000_000  # 1 in M, and µs in a second
KILO = 1_000  # 1 in k, ms in a second, W in a kW, GFLOP in a TFLOP
GIB = 1_073_741_824  # bytes in a GiB
MIB = 1_048_576  # bytes in a MiB
HOURS_YEAR = 8_760
MONTHS_YEAR = 12
HOURS_MONTH = 730  # 8,760 / 12
SECONDS_HOUR = 3_600
FLOP_PER_MAC = 2  # a multiply and an add
KEY_AND_VALUE = 2  # a key and a value are cached for each head
BYTES_16_BIT = 2  # activations travel and rest in 16 bit
PAIR = 2  # the narrowest tensor-parallel group; link figures are given for it
HALF = 2  # divisor: the mean of a linear growth, the area of a causal triangle

PERCENT = 100  # per cent in 1
TINY = 1e-9  # keeps a divisor off zero; below anything that is measured or paid
HALF_CENT = 0.005  # sums that reconcile agree to the printed cent

ALL = frozenset((0, 1, 2, GIGA, MEGA, KILO, GIB, MIB, HOURS_YEAR, MONTHS_YEAR, HOURS_MONTH, SECONDS_HOUR, PERCENT, TINY, HALF_CENT))
