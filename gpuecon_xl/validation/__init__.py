"""Predictions set beside measurements: how far off `predict` is, by card, batch, engine and metric.

Here: `measurement` reads a table of measurements and says which rows can be compared, `comparison` predicts each row,
`spread` makes figures of the errors, `command` is ``gpuecon validate``. ``rules.toml`` holds names and lengths that
published tables leave out. Not here: the equations (``equations/``) and the fitting of their constants.
"""

from gpuecon_xl.validation.comparison import Compared, compare
from gpuecon_xl.validation.measurement import Measurement, Measurements, read_measurements
from gpuecon_xl.validation.spread import DIMENSIONS, figures, table_by

__all__ = ["DIMENSIONS", "Compared", "Measurement", "Measurements", "compare", "figures", "read_measurements", "table_by"]
