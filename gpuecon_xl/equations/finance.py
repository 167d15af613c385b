"""Money over time: ramp of use, loan, depreciation, tax, erosion of prices, discounting, month by month.

Here: pure functions; sums in euro for whatever the inputs stand for (one card or a whole build), net of VAT, costs
positive. Month 0 is the purchase; month m ends m months later; the last month may be a part of one.
Not here: total cost (`tco`), cost of tokens (`cost`), the months put together (`cashflow`). All of it is off by default.
"""

from __future__ import annotations

from gpuecon_xl.ops import both, equal, maximum, minimum, where
from gpuecon_xl.quantity import Num, quantity
from gpuecon_xl.units import HALF, MONTHS_YEAR, TINY


@quantity("month", "12 · horizon_years")
def horizon_months(horizon_years: Num) -> Num:
    """Months of the horizon.

    Source: definition.
    """
    return MONTHS_YEAR * horizon_years


@quantity("1", "ramp_months < horizon_months ? 1 - ramp_months / (2 · horizon_months) : horizon_months / (2 · ramp_months)")
def ramp_share(ramp_months: Num, horizon_years: Num) -> Num:
    """Mean use over the horizon as a share of the use after the ramp; 1 without a ramp.

    Use grows evenly from 0 over `ramp_months`, then stays.

    Source: integral of `use_months` over the horizon.
    """
    months = MONTHS_YEAR * horizon_years
    return where(ramp_months < months, 1 - ramp_months / (HALF * months), months / (HALF * maximum(ramp_months, TINY)))


@quantity("1", "utilization · ramp_share")
def mean_use(utilization: Num, ramp_share: Num) -> Num:
    """Mean share of the time at work over the horizon, the ramp included.

    Source: definition.
    """
    return utilization * ramp_share


@quantity("month", "min(max(month - 1, 0), horizon_months)")
def month_from(month: Num, horizon_months: Num) -> Num:
    """Time at which a month begins, counted from the purchase.

    Source: definition.
    """
    return minimum(maximum(month - 1, 0), horizon_months)


@quantity("month", "min(month, horizon_months)")
def month_to(month: Num, horizon_months: Num) -> Num:
    """Time at which a month ends, counted from the purchase; the horizon's end when that comes first.

    Source: definition.
    """
    return minimum(month, horizon_months)


def _ramped(time: Num, ramp_months: Num) -> Num:
    """Months of full use that the time since the purchase is worth."""
    return where(time < ramp_months, time * time / (HALF * maximum(ramp_months, TINY)), time - ramp_months / HALF)


@quantity("month", "ramped(month_to) - ramped(month_from); ramped(t) = t < ramp_months ? t² / (2 · ramp_months) : t - ramp_months / 2")
def use_months(month_from: Num, month_to: Num, ramp_months: Num) -> Num:
    """Months of use after the ramp that a month is worth: its length without a ramp, less during one.

    Source: integral of an even growth from 0.
    """
    return _ramped(month_to, ramp_months) - _ramped(month_from, ramp_months)


@quantity("1/month", "i / (1 - (1 + i)^-n), i = loan_rate_year / 12, n = horizon_months; 1 / n without interest")
def crf_month(loan_rate_year: Num, horizon_months: Num) -> Num:
    """Capital recovery factor: the even monthly payment that repays a loan of 1 over the horizon.

    Source: annuity formula; Excel's PMT.
    """
    rate = maximum(loan_rate_year, TINY) / MONTHS_YEAR
    return where(loan_rate_year > TINY, rate / (1 - 1 / (1 + rate) ** horizon_months), 1 / horizon_months)


@quantity("EUR", "capex_eur · loan_share · (crf_month · horizon_months - 1)")
def interest_eur(capex_eur: Num, loan_share: Num, crf_month: Num, horizon_months: Num) -> Num:
    """Interest over the horizon on the part of the purchase that is borrowed; 0 unless given.

    Source: sum of the payments less the loan.
    """
    return capex_eur * loan_share * (crf_month * horizon_months - 1)


@quantity("1", "(1 - (1 + i)^(t - n)) / (1 - (1 + i)^-n), i = loan_rate_year / 12, t = month_at, n = horizon_months")
def loan_left(loan_rate_year: Num, month_at: Num, horizon_months: Num) -> Num:
    """Share of a loan that is still owed at a time.

    Source: annuity formula; Excel's FV.
    """
    rate = maximum(loan_rate_year, TINY) / MONTHS_YEAR
    owed = (1 - (1 + rate) ** (month_at - horizon_months)) / (1 - (1 + rate) ** (0 - horizon_months))
    return where(loan_rate_year > TINY, owed, 1 - month_at / horizon_months)


@quantity("EUR", "capex_eur · loan_share · (crf_month · (month_to - month_from) - (loan_left_from - loan_left_to))")
def interest_month_eur(
    capex_eur: Num, loan_share: Num, crf_month: Num, month_from: Num, month_to: Num, loan_left_from: Num, loan_left_to: Num
) -> Num:
    """Interest in one month: the payment less what it repays.

    Source: annuity formula; Excel's IPMT.
    """
    return capex_eur * loan_share * (crf_month * (month_to - month_from) - (loan_left_from - loan_left_to))


@quantity("1/year", "loan_share · loan_rate_year · (1 - tax_rate) + (1 - loan_share) · equity_return_year")
def wacc_year(loan_share: Num, loan_rate_year: Num, tax_rate: Num, equity_return_year: Num) -> Num:
    """Weighted average cost of capital, after tax: what discounts the cash flow; 0 unless given.

    Source: definition; interest is tax-deductible.
    """
    return loan_share * loan_rate_year * (1 - tax_rate) + (1 - loan_share) * equity_return_year


@quantity("1", "(1 + wacc_year)^(-month_to / 12)")
def discount_factor(wacc_year: Num, month_to: Num) -> Num:
    """What a euro paid at the end of a month is worth at the purchase.

    Source: definition; Excel's NPV.
    """
    return 1 / (1 + wacc_year) ** (month_to / MONTHS_YEAR)


@quantity("1", "(1 - erosion_year)^(month_from / 12)")
def price_left(erosion_year: Num, month_from: Num) -> Num:
    """What is left of a price that falls by a share each year, at the beginning of a month; 1 unless given.

    Source: even decline.
    """
    return where(month_from > 0, (1 - erosion_year) ** (month_from / MONTHS_YEAR), 1)


@quantity("1", "resale_start_share · (1 - resale_decline_year)^horizon_years")
def resale_share(resale_start_share: Num, resale_decline_year: Num, horizon_years: Num) -> Num:
    """Resale value at the end of the horizon by a curve, as a share of the card's price; 0 unless given.

    Parameters
    ----------
    resale_start_share : value of a card just bought over its price [1].  resale_decline_year : share lost each year.

    Source: even decline, as prices of used cards show it.
    """
    return resale_start_share * (1 - resale_decline_year) ** horizon_years


@quantity("EUR", "month = 0 ? capex_eur : 0")
def outlay_month_eur(month: Num, capex_eur: Num) -> Num:
    """Purchase, paid at month 0.

    Source: definition.
    """
    return where(month < 1, capex_eur, 0)


@quantity("EUR", "(electricity_idle_eur · (month_to - month_from) + tco_per_use_eur · utilization · use_months) / horizon_months")
def electricity_month_eur(
    electricity_idle_eur: Num,
    tco_per_use_eur: Num,
    utilization: Num,
    use_months: Num,
    month_from: Num,
    month_to: Num,
    horizon_months: Num,
) -> Num:
    """Electricity in one month: idle power all the time, the rest by use.

    Source: `tco.electricity_eur` by month.
    """
    return (electricity_idle_eur * (month_to - month_from) + tco_per_use_eur * utilization * use_months) / horizon_months


@quantity("EUR", "(maintenance_eur + running_eur + spares_eur + hosting_eur) · (month_to - month_from) / horizon_months")
def upkeep_month_eur(
    maintenance_eur: Num,
    running_eur: Num,
    spares_eur: Num,
    hosting_eur: Num,
    month_from: Num,
    month_to: Num,
    horizon_months: Num,
) -> Num:
    """Maintenance, spares, hosting, space, licences and staff in one month.

    Source: the parts of `tco.tco_eur`, evenly by month.
    """
    return (maintenance_eur + running_eur + spares_eur + hosting_eur) * (month_to - month_from) / horizon_months


@quantity("EUR", "the last month ? residual_eur : 0")
def resale_month_eur(month: Num, month_to: Num, residual_eur: Num, horizon_months: Num) -> Num:
    """Income from the sale at the end of the horizon.

    Source: definition.
    """
    return where(both(month > 0, month_to >= horizon_months), residual_eur, 0)


@quantity("EUR", "outlay_month_eur + electricity_month_eur + upkeep_month_eur + interest_month_eur - resale_month_eur")
def own_month_eur(outlay_month_eur: Num, electricity_month_eur: Num, upkeep_month_eur: Num, interest_month_eur: Num, resale_month_eur: Num) -> Num:
    """What owning costs in one month before tax; the sum over the months is the total cost of ownership.

    Source: the parts of `tco.tco_eur` by month.
    """
    return outlay_month_eur + electricity_month_eur + upkeep_month_eur + interest_month_eur - resale_month_eur


@quantity("EUR", "(capex_eur - residual_eur) · (written off by month_to - written off by month_from)")
def depreciation_month_eur(capex_eur: Num, residual_eur: Num, months_written_off: Num, month_from: Num, month_to: Num, horizon_months: Num) -> Num:
    """Straight-line depreciation in one month; what is not yet written off at the end of the horizon goes with the sale.

    Source: straight line; Excel's SLN.
    """
    by_end = where(month_to >= horizon_months, 1, minimum(month_to / months_written_off, 1))
    return (capex_eur - residual_eur) * (by_end - minimum(month_from / months_written_off, 1))


@quantity("EUR", "tax_rate · (electricity_month_eur + upkeep_month_eur + depreciation_month_eur)")
def tax_shield_eur(tax_rate: Num, electricity_month_eur: Num, upkeep_month_eur: Num, depreciation_month_eur: Num) -> Num:
    """Tax saved in one month by costs and depreciation; that of interest is in `wacc_year`.

    Source: definition.
    """
    return tax_rate * (electricity_month_eur + upkeep_month_eur + depreciation_month_eur)


@quantity("EUR", "outlay_month_eur + electricity_month_eur + upkeep_month_eur - resale_month_eur - tax_shield_eur")
def own_after_tax_eur(outlay_month_eur: Num, electricity_month_eur: Num, upkeep_month_eur: Num, resale_month_eur: Num, tax_shield_eur: Num) -> Num:
    """What owning costs in one month after tax, without interest: the discount rate holds the cost of capital.

    Source: free cash flow.
    """
    return outlay_month_eur + electricity_month_eur + upkeep_month_eur - resale_month_eur - tax_shield_eur


@quantity("EUR", "electricity by use in the month · (1 - tax_rate)")
def own_by_use_eur(tco_per_use_eur: Num, utilization: Num, use_months: Num, horizon_months: Num, tax_rate: Num) -> Num:
    """The part of a month's cost of owning that grows with use, after tax.

    Source: `electricity_month_eur`.
    """
    return tco_per_use_eur * utilization * use_months / horizon_months * (1 - tax_rate)


@quantity("EUR", 'rent_per_use · (term = "reserved" ? month_to - month_from : utilization · use_months) / horizon_months · cloud_price_left')
def rent_month_eur(
    rent_per_use: Num,
    term: Num,
    utilization: Num,
    use_months: Num,
    month_from: Num,
    month_to: Num,
    horizon_months: Num,
    cloud_price_left: Num,
) -> Num:
    """Rent in one month of the hours that give as many tokens; reserved cards are paid day and night.

    Parameters
    ----------
    cloud_price_left : price over the price at the purchase, exchange rate included [1].

    Source: `breakeven.rent_per_use` by month.
    """
    hours = where(equal(term, "reserved"), month_to - month_from, utilization * use_months)
    return rent_per_use * hours / horizon_months * cloud_price_left


@quantity("EUR", "api_per_use · utilization · use_months / horizon_months · api_price_left")
def api_month_eur(api_per_use: Num, utilization: Num, use_months: Num, horizon_months: Num, api_price_left: Num) -> Num:
    """What an API charges in one month for the same tokens.

    Parameters
    ----------
    api_per_use : price of the tokens of full use over the horizon [EUR].

    Source: price by token.
    """
    return api_per_use * utilization * use_months / horizon_months * api_price_left


@quantity("EUR", "other_month_eur · (1 - tax_rate) - own_after_tax_eur")
def saved_month_eur(other_month_eur: Num, own_after_tax_eur: Num, tax_rate: Num) -> Num:
    """What owning saves in one month against renting or an API, after tax; negative at the purchase.

    Source: difference of the two cash flows.
    """
    return other_month_eur * (1 - tax_rate) - own_after_tax_eur


@quantity("1/year", "(1 + irr_month)^12 - 1")
def irr_year(irr_month: Num) -> Num:
    """Internal rate of return by year from that by month.

    Source: compounding.
    """
    return (1 + irr_month) ** MONTHS_YEAR - 1
