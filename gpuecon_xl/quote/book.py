"""The workbook that a customer gets: the letter, the economics page, the assumptions.

Here: XlsxWriter only, from an `Offer`. Not here: prices (`offer`), the calculation (`economics`), sending or printing (`pdf`).
Same offer, same bytes. User text is written as text, never as a formula. Number formats carry the customer's locale.
"""

from __future__ import annotations

import datetime as dt
import io
from collections.abc import Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Any

import xlsxwriter

from gpuecon_xl import formula
from gpuecon_xl.quote import economics, logo, vat
from gpuecon_xl.quote.economics import CURVE, Input, Step
from gpuecon_xl.quote.layout import lines as lines_of
from gpuecon_xl.quote.layout import width
from gpuecon_xl.quote.offer import Offer

_NAVY, _GREY, _PALE, _BLUE, _LINE, _HEAD = "#17365D", "#595959", "#FFF9DB", "#1F4FD8", "#BFBFBF", "#DCE6F1"
_SERIES = ("#1F4E79", "#E07B39", "#5B9A68", "#9B6FB0")
_LOCALE = {"en": "809", "de": "407", "da": "406"}  # Windows numbers of the languages
_BABEL = {"en": "en_GB", "de": "de_DE", "da": "da_DK"}
_DATE = {"en": "d mmmm yyyy", "de": "d. mmmm yyyy", "da": "d. mmmm yyyy"}
_LOGO = (180, 64)  # room for the logo, pixels
_PAGE_POINTS = 835.0  # of rows, on a page as wide as the letter
_POINTS = 13.2  # height of a line of text in 10 points
_ALWAYS_TEXT = ("=", "+", "-", "@")
# widths of the letter's columns: position, item, quantity, unit, price, discount, amount
_LETTER = (5.0, 40.0, 9.0, 8.0, 14.0, 9.0, 15.0)
_PAGE = (45.0, 14.0, 26.0, 42.0, 11.0)


def workbook(offer: Offer) -> bytes:
    """The file."""
    out = io.BytesIO()
    _Book(offer, xlsxwriter.Workbook(out, options())).write()
    return out.getvalue()


def options() -> dict[str, Any]:
    """How the file is written; fresh for each, because XlsxWriter changes them."""
    return {"in_memory": True, "default_format_properties": {"font_name": "Arial", "font_size": 10}, "strings_to_formulas": False,
            "strings_to_urls": False, "strings_to_numbers": False}  # fmt: skip


@lru_cache(maxsize=4096)
def date_text(day: dt.date, lang: str) -> str:
    """A date as the customer's language writes it."""
    from babel.dates import format_date

    return str(format_date(day, "long", _BABEL[lang]))


@lru_cache(maxsize=1024)
def percent_text(rate: Decimal, lang: str) -> str:
    """A rate as the customer's language writes it."""
    from babel.numbers import format_percent

    return str(format_percent(rate, "#,##0.####\u00a0%" if lang != "en" else "#,##0.####%", _BABEL[lang]))


def right_to_left(text: str) -> bool:
    """Whether a text begins in a script that runs from the right."""
    import unicodedata

    return next((unicodedata.bidirectional(c) in ("R", "AL") for c in text if unicodedata.bidirectional(c) in ("L", "R", "AL")), False)


class _Book:
    def __init__(self, offer: Offer, wb: Any) -> None:
        self.o, self.wb, self.t = offer, wb, offer.texts
        self.loc = _LOCALE[offer.lang]
        self._formats: dict[tuple[Any, ...], Any] = {}
        self.net_hardware = ""  # where the letter's amounts of the covered hardware stand

    def write(self) -> None:
        o = self.o
        self.wb.set_properties({"title": f"{self.t('quote.offer')} {o.number}", "author": o.company.name, "company": o.company.name,
                                "created": dt.datetime(o.date.year, o.date.month, o.date.day)})  # fmt: skip
        self.wb.set_size(24_000, 15_000)
        titles = [self.t(f"quote.{k}") for k in ("offer", "economics", "assumptions")]
        sheets = [self.wb.add_worksheet(x) for x in titles[: 3 if o.economics else 1]]
        letter = _Letter(self, sheets[0])
        letter.write()
        if o.economics:
            _Pages(self, sheets[1], sheets[2], titles, letter.hardware_formula(titles[0])).write()
        self.wb.close()

    def fmt(self, **look: Any) -> Any:
        key = tuple(look.items())
        made = self._formats.get(key)
        if made is None:
            made = self._formats[key] = self.wb.add_format({"font_name": "Arial", "font_size": 10, "valign": "vcenter"} | look)
        return made

    def number(self, pattern: str) -> str:
        """A number format in the customer's locale."""
        return f"[$-{self.loc}]{pattern}"

    def money(self) -> str:
        """The format of sums, with the currency where the customer's language puts it."""
        sign = "€" if self.o.currency == "EUR" else "$"
        if self.o.lang == "en":
            return self.number(f'"{sign}"#,##0.00;[$-{self.loc}]-"{sign}"#,##0.00')
        return self.number(f'#,##0.00\u00a0"{sign}";[$-{self.loc}]-#,##0.00\u00a0"{sign}"')

    def text(self, ws: Any, row: int, column: int, value: str, **look: Any) -> None:
        """A text of a person, never a formula, also not when it is edited."""
        if value.startswith(_ALWAYS_TEXT):
            look["quote_prefix"] = True
        if right_to_left(value):
            look |= {"reading_order": 2, "align": "left"}
        ws.write_string(row, column, value, self.fmt(**look))

    def wide(self, ws: Any, row: int, first: int, last: int, value: str, **look: Any) -> None:
        """A text over several columns."""
        if value.startswith(_ALWAYS_TEXT):
            look["quote_prefix"] = True
        if right_to_left(value):
            look |= {"reading_order": 2, "align": "left"}
        f = self.fmt(**look)
        ws.merge_range(row, first, row, last, "", f)
        ws.write_string(row, first, value, f)


class _Letter:
    """The cover letter: letterhead, addresses, lines, totals, terms, what the law wants of a letter."""

    def __init__(self, book: _Book, ws: Any) -> None:
        self.b, self.ws, self.o, self.t = book, ws, book.o, book.t
        self.widths = list(_LETTER)
        self.discounts = any(n.discount for n in self.o.lines)
        if not self.discounts:
            self.widths[5], self.widths[1] = 1.0, self.widths[1] + 8.0
        self.amounts: list[int] = []
        self.row = 0
        self.used = 0.0  # of the page, points
        self.breaks: list[int] = []

    def write(self) -> None:
        ws = self.ws
        for i, w in enumerate(self.widths):
            ws.set_column(i, i, w)
        ws.hide_gridlines(2)
        ws.set_portrait()
        ws.set_paper(9)
        ws.fit_to_pages(1, 0)
        ws.set_margins(0.79, 0.59, 0.59, 0.75)
        ws.set_footer(f"&L&8{_escaped(self.t('quote.subject', number=self.o.number))}&R&8{_escaped(self.t('quote.page'))} &P / &N")
        self._head()
        self._addresses()
        self._opening()
        self._lines()
        self._totals()
        self._terms()
        self._closing()
        ws.print_area(0, 0, self.row, 6)
        ws.set_h_pagebreaks(self.breaks)
        ws.protect("", {"format_columns": True, "format_rows": True, "select_locked_cells": True})

    def _high(self, row: int, points: float) -> None:
        """A row's height; counts how much of the page is used."""
        self.ws.set_row(row, points)
        if self.used + points > _PAGE_POINTS:
            self.used = 0.0
        self.used += points

    def _keep(self, points: float) -> None:
        """What follows needs that much of one page; it goes to the next page when this one has less left."""
        if self.used + points > _PAGE_POINTS:
            self.breaks.append(self.row)
            self.used = 0.0

    def _paragraph(self, text: str, size: int = 10, **look: Any) -> None:
        room = sum(self.widths) * 10 / size
        self._high(self.row, max(15.0, lines_of(text, room, bool(look.get("bold"))) * _POINTS * size / 10 + 2))
        self.b.wide(self.ws, self.row, 0, 6, text, text_wrap=True, valign="top", font_size=size, **look)
        self.row += 1

    def _gap(self, points: float = 10) -> None:
        self._high(self.row, points)
        self.row += 1

    def _head(self) -> None:
        c, ws = self.o.company, self.ws
        room = sum(self.widths[:4])
        size = next((s for s in (20, 18, 16, 14, 12) if width(c.name, True) * s / 10 <= room), 11)
        high = 30.0 if width(c.name, True) * size / 10 <= room else 34.0
        self._high(0, high)
        self.b.wide(ws, 0, 0, 3, c.name, bold=True, font_size=size, font_color=_NAVY, text_wrap=size == 11)
        slogan = c.get("slogan", self.o.lang)
        self._high(1, 20)
        rule = {"bottom": 2, "bottom_color": _NAVY}
        self.b.wide(ws, 1, 0, 3, slogan, font_size=9, font_color=_GREY, valign="top", **rule)
        for column in range(4, 7):
            ws.write_blank(1, column, None, self.b.fmt(**rule))
        if c.logo:
            wide, tall = logo.pixels(c.logo)
            scale = min(_LOGO[0] / wide, _LOGO[1] / tall, 1.0)  # never enlarged
            left = sum(map(_pixels, self.widths[4:])) - round(wide * scale)  # it ends where the letter ends
            ws.insert_image(0, 4, "logo.png", {"image_data": io.BytesIO(c.logo), "x_scale": scale, "y_scale": scale, "x_offset": left, "y_offset": 0,
                                               "object_position": 3, "description": c.name})  # fmt: skip
        self.row = 2
        self._gap(14)

    def _addresses(self) -> None:
        o, ws, t = self.o, self.ws, self.t
        c, customer = o.company, o.customer
        sender = " · ".join(x for x in (c.name, c.get("street"), f"{c.get('postcode')} {c.get('city')}".strip()) if x)
        address = [customer["name"], customer.get("department"), customer.get("contact"), customer.get("street"), customer.get("extra"),
                   f"{customer.get('postcode', '')} {customer.get('city', '')}".strip()]  # fmt: skip
        if customer["country"] != c.country:
            address.append(vat.country_name(customer["country"], o.lang).upper())
        left = [str(x) for x in address if x]
        date = self.b.fmt(num_format=self.b.number(_DATE[o.lang]), align="left")
        info: list[tuple[str, Any]] = [("number", o.number), ("date", o.date), ("valid_until", o.valid_until)]
        info += [(k, v) for k, v in (("customer_number", customer.get("number")), ("customer_vat", customer.get("vat_id")),
                                     ("contact", c.get("contact")), ("phone", c.get("phone")), ("email", c.get("email"))) if v]  # fmt: skip
        ws.write_string(self.row, 0, "", self.b.fmt())
        self.b.wide(ws, self.row, 0, 1, sender, font_size=7, font_color=_GREY, bottom=4, bottom_color=_LINE, text_wrap=True)
        self._high(self.row, 12 * lines_of(sender, sum(self.widths[:2]) * 10 / 7) + 2)
        self.row += 1
        first = self.row
        room = sum(self.widths[:2])
        high = [15.0] * max(len(left), len(info))
        for i, text in enumerate(left):
            self.b.wide(ws, first + i, 0, 1, text, text_wrap=True, bold=i == 0)
            high[i] = max(high[i], lines_of(text, room, i == 0) * _POINTS + 2)
        for i, (key, value) in enumerate(info):
            self.b.wide(ws, first + i, 2, 3, t(f"quote.{key}"), font_color=_GREY, indent=1)
            if isinstance(value, dt.date):
                ws.merge_range(first + i, 4, first + i, 6, "", date)
                ws.write_datetime(first + i, 4, dt.datetime(value.year, value.month, value.day), date)
            else:
                self.b.wide(ws, first + i, 4, 6, str(value), text_wrap=True)
                high[i] = max(high[i], lines_of(str(value), sum(self.widths[4:])) * _POINTS + 2)
        for i, points in enumerate(high):
            self._high(first + i, points)
        self.row = first + len(high)
        self._gap(18)

    def _opening(self) -> None:
        t, contact = self.t, self.o.customer.get("contact")
        self._paragraph(t("quote.subject", number=self.o.number), 14, bold=True, font_color=_NAVY)
        self._gap(8)
        self._paragraph(t("quote.salutation_name", name=contact) if contact else t("quote.salutation"))
        self._gap(6)
        self._paragraph(t("quote.intro"))
        self._gap(8)

    def _lines(self) -> None:
        o, ws, b, t = self.o, self.ws, self.b, self.t
        heads = ("position", "item", "quantity", "unit", "price", "discount", "amount")
        head: dict[str, Any] = {"bold": True, "bg_color": _HEAD, "text_wrap": True, "bottom": 1, "bottom_color": _NAVY, "font_color": _NAVY}
        self._high(self.row, 30)
        for i, h in enumerate(heads):
            text = "" if h == "discount" and not self.discounts else t(f"quote.head_{h}").replace("{currency}", o.currency)
            ws.write_string(self.row, i, text, b.fmt(align="left" if i in (1, 3) else "center" if i == 0 else "right", indent=int(i == 3), **head))
        top = self.row
        before = self.used
        self.row += 1
        for i, n in enumerate(o.lines):
            rule: dict[str, Any] = {} if n.detail else {"bottom": 4, "bottom_color": _LINE}
            high = lines_of(n.title, self.widths[1], True)
            rule["valign"] = "vcenter" if high == 1 else "top"
            self._high(self.row, high * _POINTS + 6)
            ws.write_number(self.row, 0, i + 1, b.fmt(align="center", **rule))
            b.text(ws, self.row, 1, n.title, bold=True, text_wrap=True, **rule)
            places = max(0, -int(n.quantity.normalize().as_tuple().exponent))
            pattern = "#,##0" + ("." + "0" * places if places else "")
            ws.write_number(self.row, 2, float(n.quantity), b.fmt(num_format=b.number(pattern), **rule))
            b.text(ws, self.row, 3, n.unit, shrink=True, align="left", indent=1, **rule)
            sums = b.fmt(num_format=b.number("#,##0.00"), **rule)
            ws.write_number(self.row, 4, float(n.price), sums)
            if n.discount:
                places = max(0, -int((n.discount * 100).normalize().as_tuple().exponent))
                pattern = "0" + ("." + "0" * places if places else "") + ("%" if o.lang == "en" else "\u00a0%")
                ws.write_number(self.row, 5, float(n.discount), b.fmt(num_format=b.number(pattern), **rule))
            else:
                ws.write_blank(self.row, 5, None, sums)
            r = self.row + 1
            ws.write_formula(self.row, 6, f"=ROUND(C{r}*E{r}*(1-F{r}),2)" if n.discount else f"=ROUND(C{r}*E{r},2)", sums, float(n.amount))
            self.amounts.append(r)
            self.row += 1
            if n.detail:
                room = sum(self.widths[1:4])
                self._high(self.row, lines_of(n.detail, room * 10 / 9) * _POINTS * 0.9 + 5)
                low: dict[str, Any] = {"bottom": 4, "bottom_color": _LINE}
                ws.write_blank(self.row, 0, None, b.fmt(**low))
                b.wide(ws, self.row, 1, 3, n.detail, text_wrap=True, valign="top", font_size=9, font_color=_GREY, **low)
                for column in range(4, 7):
                    ws.write_blank(self.row, column, None, b.fmt(**low))
                self.row += 1

        if self.used < before:  # the lines run over the page
            ws.repeat_rows(top)

    def _totals(self) -> None:
        o, t, s = self.o, self.t, self.o.totals
        self._keep(120)
        first, last = self.amounts[0], self.amounts[-1]
        self._gap(4)
        rows: list[tuple[str, str, Decimal, bool]] = []
        at = self.row + 1
        net = at
        if o.discount:
            rows.append((t("quote.subtotal"), f"=ROUND(SUM(G{first}:G{last}),2)", s.subtotal, False))
            rate = _exact(o.discount)
            rows.append((t("quote.discount", rate=percent_text(o.discount, o.lang)), f"=-ROUND(G{at}*{rate},2)", -s.discount, False))
            net = at + 2
            rows.append((t("quote.net"), f"=ROUND(G{at}+G{at + 1},2)", s.net, False))
        else:
            rows.append((t("quote.net"), f"=ROUND(SUM(G{first}:G{last}),2)", s.net, False))
        rows.append((t(f"quote.vat_{o.vat}", rate=percent_text(o.vat_rate, o.lang)), f"=ROUND(G{net}*{_exact(o.vat_rate)},2)", s.vat, False))
        rows.append((t("quote.gross" if o.vat_rate else "quote.gross_free"), f"=ROUND(G{net}+G{net + 1},2)", s.gross, True))
        for label, text, value, strong in rows:
            look: dict[str, Any] = {"bold": True, "top": 1, "bottom": 6, "top_color": _NAVY, "bottom_color": _NAVY} if strong else {}
            self._high(self.row, 18 if strong else 16)
            self.b.wide(self.ws, self.row, 2, 5, label, align="right", **look)
            sums = self.b.fmt(num_format=self.b.money() if strong else self.b.number("#,##0.00"), **look)
            self.ws.write_formula(self.row, 6, text, sums, float(value))
            self.row += 1
        self._gap(8)
        if o.vat != "domestic":
            own = o.company.get("vat_id") or o.company.get("cvr")
            values = {"vat_id": str(o.customer.get("vat_id", "")), "own_vat_id": own} if o.vat == "eu" else {}
            self._paragraph(t(f"quote.note_{o.vat}", **values), 9)
        self._paragraph(t("quote.rounding", currency=o.currency), 8, font_color=_GREY)
        self._gap(6)

    def _terms(self) -> None:
        o, t = self.o, self.t
        sure = t("quote.binding" if o.binding else "quote.not_binding", date=date_text(o.valid_until, o.lang))
        terms = [("validity", sure), *((k, o.terms[k]) for k in ("delivery", "payment", "warranty", "notes") if k in o.terms)]
        for key, text in terms:
            self._term(t(f"quote.{key}"), text)
        if o.economics:
            self._gap(4)
            self._paragraph(t("quote.hint", economics=t("quote.economics"), assumptions=t("quote.assumptions")))

    def _term(self, label: str, text: str) -> None:
        """A label and its text; long texts are cut into rows that no page break must keep together."""
        room = sum(self.widths)
        first = True
        for part in text.split("\n"):
            for piece in _pieces(part):
                self._high(self.row, max(15.0, lines_of((f"{label}: " if first else "") + piece, room) * _POINTS + 3))
                if first:
                    plain = self.b.fmt(text_wrap=True, valign="top")
                    self.ws.merge_range(self.row, 0, self.row, 6, "", plain)
                    self.ws.write_rich_string(self.row, 0, self.b.fmt(bold=True), f"{label}: ", self.b.fmt(), piece or " ", plain)
                else:
                    self.b.wide(self.ws, self.row, 0, 6, piece, text_wrap=True, valign="top")
                self.row += 1
                first = False

    def _closing(self) -> None:
        c, t = self.o.company, self.t
        self._keep(185)
        self._gap(10)
        self._paragraph(t("quote.closing"))
        self._gap(26)
        signer = c.get("contact")
        if signer:
            self._paragraph(signer)
            if c.get("role"):
                self._paragraph(c.get("role", self.o.lang), 9, font_color=_GREY)
        self._paragraph(c.name, bold=not signer)
        self._gap(12)
        self._legal()

    def _legal(self) -> None:
        c, t, lang = self.o.company, self.t, self.o.lang
        place = " ".join(x for x in (c.get("postcode"), c.get("city")) if x)
        left = [c.name, ", ".join(x for x in (c.get("street"), c.get("extra"), place, vat.country_name(c.country, lang)) if x)]
        left += [f"{t(f'quote.{k}')}: {c.get(k)}" for k in ("phone", "email", "web") if c.get(k)]
        bank = [x for x in (c.get("bank"), f"IBAN {c.get('iban')}" if c.get("iban") else "", f"BIC\u00a0{c.get('bic')}" if c.get("bic") else "") if x]
        left += [" · ".join(bank)] if bank else []
        right = [f"{t(f'quote.{k}')}: {c.get(k)}" for k in ("legal_form", "seat", "register") if c.get(k)]
        people = c.values.get("managing_directors")
        right += [f"{t('quote.managing_directors')}: {', '.join(people)}"] if people else []
        right += [f"{t(f'quote.{k}')}: {c.get(k)}" for k in ("chair", "vat_id", "cvr", "tax_number") if c.get(k)]
        rooms = sum(self.widths[:2]) * 10 / 8, sum(self.widths[2:]) * 10 / 8
        count = max(len(left), len(right))
        for i in range(count):
            pair = (left[i] if i < len(left) else ""), (right[i] if i < len(right) else "")
            look: dict[str, Any] = {"font_size": 8, "font_color": _GREY, "text_wrap": True, "valign": "top"}
            if i == 0:
                look |= {"top": 1, "top_color": _LINE}
            self.b.wide(self.ws, self.row, 0, 1, pair[0], **look)
            self.b.wide(self.ws, self.row, 2, 6, pair[1], **look)
            self._high(self.row, max(lines_of(x, room) for x, room in zip(pair, rooms, strict=True)) * _POINTS * 0.8 + 1.5)
            self.row += 1
        self.row -= 1

    def hardware_formula(self, title: str) -> tuple[str, float]:
        """The covered hardware's amounts as the economics page reads them from the letter, after the offer's discount."""
        o = self.o
        assert o.economics is not None
        rows = [r for r, n in zip(self.amounts, o.lines, strict=True) if n.hardware and n.card in ("", o.economics.card)]
        value = sum((n.amount for n in o.lines if n.hardware and n.card in ("", o.economics.card)), Decimal(0))
        refs = ",".join(f"'{title}'!$G${r}" for r in rows)
        if not o.discount:
            return f"=SUM({refs})", float(value)
        return f"=SUM({refs})*(1-{_exact(o.discount)})", float(value) * (1 - float(o.discount))


class _Pages:
    """The economics page and the assumptions: inputs, key figures, charts, the calculation."""

    def __init__(self, book: _Book, page: Any, basis: Any, titles: Sequence[str], hardware: tuple[str, float]) -> None:
        assert book.o.economics is not None
        self.b, self.page, self.basis, self.e, self.o, self.t = book, page, basis, book.o.economics, book.o, book.t
        self.titles = titles
        self.hardware = hardware
        cards = sum((n.cards for n in book.o.lines if n.card == self.e.card), Decimal(0))
        self.v = self.e.values(hardware[1], float(cards))
        self.row = 0

    def write(self) -> None:
        for ws in (self.page, self.basis):
            ws.hide_gridlines(2)
            ws.set_paper(9)
            ws.set_portrait()
            ws.fit_to_pages(1, 0)
            ws.set_margins(0.5, 0.5, 0.6, 0.7)
            ws.set_footer(f"&L&8{_escaped(self.t('quote.subject', number=self.o.number))}&C&8&A&R&8{_escaped(self.t('quote.page'))} &P / &N")
            for i, w in enumerate(_PAGE):
                ws.set_column(i, i, w)
        self._economics()
        self._basis()
        for ws in (self.page, self.basis):
            ws.protect("", {"format_columns": True, "format_rows": True, "select_locked_cells": True})

    # ---- parts ----

    def _title(self, ws: Any, title: str, *below: str) -> None:
        ws.set_row(0, 28)
        ws.write_string(0, 0, title, self.b.fmt(bold=True, font_size=18, font_color=_NAVY))
        for i, text in enumerate(below):
            self.b.text(ws, 1 + i, 0, text, font_color=_GREY)
        self.row = 2 + len(below)

    def _block(self, ws: Any, title: str, heads: Sequence[str]) -> None:
        ws.set_row(self.row, 20)
        ws.write_string(self.row, 0, title, self.b.fmt(bold=True, font_size=12, font_color=_NAVY))
        self.row += 1
        for i, h in enumerate(heads):
            text = self.t(f"quote.{h}") if h else ""
            ws.write_string(self.row, i, text, self.b.fmt(bold=True, bg_color=_HEAD, font_color=_NAVY, bottom=1, bottom_color=_NAVY,
                                                                           align="right" if i == 1 else "left", indent=int(i == 2)))  # fmt: skip
        self.row += 1

    def _cell(self, **look: Any) -> Any:
        return self.b.fmt(bottom=4, bottom_color=_LINE, **look)

    def unit(self, unit: str) -> str:
        """A unit in the customer's language, sums in the currency of the offer."""
        plain = unit.replace(self.o.currency, "money").replace("EUR", "money")
        if plain == "money":
            return self.o.currency
        if plain in ("", "1", "%"):
            return ""
        found = self.t.get(f"quote.unit_{plain}")
        return plain if found is None else found.replace("{currency}", self.o.currency)

    def pattern(self, name: str, unit: str) -> str:
        """The number format of a figure."""
        share = "0.0%" if self.o.lang == "en" else "0.0\u00a0%"
        if name in ("breakeven_cloud", "breakeven_api"):
            return self.b.number(f"{share};-0")
        if unit.startswith("%") or name == "output_share":
            return self.b.number(share)
        if "kWh" in unit or "1e6" in unit.partition("/")[2] or unit.endswith("/h"):
            return self.b.number("#,##0.000")
        if name in ("rel", "pue"):
            return self.b.number("0.00")
        if unit in ("", "year", "request"):
            return self.b.number("#,##0.##") if unit else "General"
        if unit == "W" or name in ("cloud_tok_s", "tokens_month_m"):
            return self.b.number("#,##0.0")
        return self.b.number("#,##0")

    def _line(self, ws: Any, label: str, unit: str) -> None:
        self.b.text(ws, self.row, 0, label, bottom=4, bottom_color=_LINE, text_wrap=True)
        ws.write_string(self.row, 2, unit, self._cell(font_color=_GREY, indent=1, text_wrap=True))

    def _height(self, ws: Any, label: str, unit: str, long: str) -> None:
        count = max(lines_of(label, _PAGE[0]), lines_of(unit, _PAGE[2] - 1.5), lines_of(long, _PAGE[3] * 10 / 9))
        ws.set_row(self.row, 15.0 if count == 1 else count * _POINTS + 2)

    # ---- the economics page ----

    def _economics(self) -> None:
        e, ws, t = self.e, self.page, self.t
        facts = {f.name: f.value for f in e.facts}
        about = t("quote.about").format(card=str(facts["gpu"]), model=facts["model"], precision=facts["precision"],
                                        batch=f"{facts['batch']:g}")  # fmt: skip
        self._title(ws, self.titles[1], about, t("quote.economics_hint"))
        self._block(ws, t("quote.key_figures"), ("figure", "value", "unit"))
        money_mtok = self.unit("EUR/1e6 output tokens")
        self._key(t("quote.key_own"), "cost_mtok", money_mtok, strong=True)
        if e.cloud:
            self._key(t("quote.key_cloud", name=e.cloud), "cloud_cost_mtok", money_mtok)
        if e.api:
            self._key(t("quote.key_api", name=e.api), "api_cost_mtok", money_mtok)
        if e.cloud:
            self._breakeven(t("quote.key_breakeven_cloud"), "breakeven_cloud", t("quote.never_cloud"))
        if e.api:
            self._breakeven(t("quote.key_breakeven_api"), "breakeven_api", t("quote.never_api"))
        self._key(t("quote.key_tco"), "tco_build", self.o.currency)
        self._key(t("quote.key_month"), "cost_month", self.unit("EUR/month"))
        self._key(t("quote.key_tokens"), "tokens_month_m", self.unit("1e6 output tokens"))
        self.row += 1
        self._block(ws, t("quote.inputs"), ("figure", "value", "unit", "source", "as_of"))
        for i in e.inputs:
            self._input(i)
        self.row += 1
        self._charts()
        ws.freeze_panes(1, 0)
        ws.print_area(0, 0, self.row, 4)

    def _key(self, label: str, name: str, unit: str, strong: bool = False) -> None:
        ws = self.page
        self._height(ws, label, unit, "")
        self._line(ws, label, unit)
        pattern = self.pattern(name, "EUR/1e6" if "mtok" in name else "EUR")
        ws.write_formula(self.row, 1, f"={name}", self._cell(num_format=pattern, bold=strong), float(self.v[name]))
        self.row += 1

    def _breakeven(self, label: str, name: str, never: str) -> None:
        ws = self.page
        self._height(ws, label, "", "")
        self._line(ws, label, "")
        shown = economics.use_or_text(float(self.v[name]), never)
        look = self._cell(num_format=self.pattern(name, "1"), align="left", indent=1, bold=True)
        ws.merge_range(self.row, 1, self.row, 2, "", look)
        ws.write_formula(self.row, 1, economics.shown_formula(name, never), look, shown)
        self.row += 1

    def _input(self, i: Input) -> None:
        ws = self.page
        label = self.t(f"quote.label_{i.name}")
        unit = self.unit(i.unit)
        self._height(ws, label, unit, i.source)
        self._line(ws, label, unit)
        ws.write_number(self.row, 1, i.value, self._cell(num_format=self.pattern(i.name, i.unit), font_color=_BLUE, bg_color=_PALE, locked=False))
        self._source(ws, i.source, i.as_of)
        self._name(i.name, self.titles[1])
        low, high = _LIMITS.get(i.name, (0, 1e12))
        ws.data_validation(self.row, 1, self.row, 1, {"validate": "decimal", "criteria": "between", "minimum": low, "maximum": high,
                                                      "error_title": label[:32], "error_message": f"{low:g} – {high:g}"})  # fmt: skip
        self.row += 1

    def _source(self, ws: Any, source: str, as_of: str) -> None:
        self.b.text(ws, self.row, 3, source, bottom=4, bottom_color=_LINE, font_size=9, text_wrap=True)
        ws.write_string(self.row, 4, as_of[:10], self._cell(font_size=9))

    def _name(self, name: str, sheet: str) -> None:
        self.b.wb.define_name(name, f"='{sheet}'!$B${self.row + 1}")

    # ---- assumptions ----

    def _basis(self) -> None:
        e, ws, t = self.e, self.basis, self.t
        self._title(ws, self.titles[2], e.note)
        self._block(ws, t("quote.case"), ("figure", "value", "unit", "source", "as_of"))
        for f in e.facts:
            label = t(f"quote.label_{f.name}")
            unit = self.unit(f.unit)
            self._height(ws, label, unit, f.source)
            self._line(ws, label, unit)
            if isinstance(f.value, str):
                self.b.wide(ws, self.row, 1, 2, str(f.value), bottom=4, bottom_color=_LINE, align="left", indent=1, shrink=True)
            else:
                ws.write_number(self.row, 1, f.value, self._cell(num_format=self.b.number("#,##0.##" if f.value % 1 else "#,##0")))
            self._source(ws, f.source, f.as_of)
            self.row += 1
        self._fixed("hardware", self.hardware[0], self.hardware[1], "#,##0.00", self.o.currency)
        self._fixed("gpus", "", self.v["gpus"], "#,##0", self.unit("card"))
        self.row += 1
        self._block(ws, t("quote.calculation"), ("figure", "value", "unit", "equation", ""))
        for s in e.steps:
            self._step(s)
        self.row += 1
        self._curve()
        ws.freeze_panes(1, 0)
        ws.print_area(0, 0, self.row - 1, 4)

    def _fixed(self, name: str, text: str, value: float, pattern: str, unit: str) -> None:
        ws = self.basis
        self._line(ws, self.t(f"quote.label_{name}"), unit)
        look = self._cell(num_format=self.b.number(pattern))
        if text:
            ws.write_formula(self.row, 1, text, look, value)
        else:
            ws.write_number(self.row, 1, value, look)
        self._source(ws, self.t("quote.this_offer"), "")
        self._name(name, self.titles[2])
        self.row += 1

    def _step(self, s: Step) -> None:
        ws, label = self.basis, self.t(f"quote.label_{s.name}")
        unit = self.unit(s.unit)
        self._height(ws, label, unit, s.equation)
        self._line(ws, label, unit)
        ws.write_formula(self.row, 1, economics.formula_of(s), self._cell(num_format=self.pattern(s.name, s.unit)), float(self.v[s.name]))
        self.b.text(ws, self.row, 3, s.equation, bottom=4, bottom_color=_LINE, font_size=9, text_wrap=True, font_color=_GREY)
        ws.write_blank(self.row, 4, None, self._cell())
        self._name(s.name, self.titles[2])
        self.row += 1

    def _curve(self) -> None:
        ws, t = self.basis, self.t
        ws.set_row(self.row, 20)
        title = f"{t('quote.curve')} ({self.unit('EUR/1e6 output tokens')})"
        ws.write_string(self.row, 0, title, self.b.fmt(bold=True, font_size=12, font_color=_NAVY))
        self.row += 1
        others = self._others()
        heads = [t("quote.axis_use"), t("quote.own"), *(title for title, _ in others)]
        ws.set_row(self.row, max(lines_of(h, _PAGE[i], True) for i, h in enumerate(heads)) * _POINTS + 2)
        for i, head in enumerate(heads):
            self.b.text(ws, self.row, i, head, bold=True, bg_color=_HEAD, font_color=_NAVY, bottom=1, bottom_color=_NAVY, align="right",
                        text_wrap=True)  # fmt: skip
        self.row += 1
        look = self._cell(num_format=self.b.number("#,##0.000"))
        share = self._cell(num_format=self.b.number("0%" if self.o.lang == "en" else "0\u00a0%"))
        known = [self.v[n] for n in economics.CURVE_NAMES]
        for use in CURVE:
            ws.write_number(self.row, 0, use, share)
            ws.write_formula(self.row, 1, economics.curve_formula(f"$A{self.row + 1}"), look, float(economics.own_at(use, *known)))
            for i, (_, name) in enumerate(others, start=2):
                ws.write_formula(self.row, i, f"={name}", look, float(self.v[name]))
            self.row += 1
        assert self.row - 1 == self._curve_rows()[1]

    def _others(self) -> list[tuple[str, str]]:
        """What own cost is compared with: title and quantity."""
        found = ((self.e.cloud, "cloud_cost_mtok"), (self.e.api, "api_cost_mtok"))
        return [(title, name) for title, name in found if title]

    def _basis_row(self, name: str) -> int:
        """Row of a step on the sheet of assumptions."""
        first = 3 + 2 + len(self.e.facts) + 2 + 1 + 2
        return first + next(i for i, s in enumerate(self.e.steps) if s.name == name)

    def _curve_rows(self) -> tuple[int, int]:
        first = self._basis_row(self.e.steps[-1].name) + 1 + 1 + 2
        return first, first + len(CURVE) - 1

    def _charts(self) -> None:
        t, ws, sheet = self.t, self.page, self.titles[2]
        first, last = self._curve_rows()
        font, title = {"name": "Arial", "size": 9}, {"name": "Arial", "size": 10, "bold": True, "color": _NAVY}
        grid = {"visible": True, "line": {"color": "#E3E3E3", "width": 0.75}}
        line = self.b.wb.add_chart({"type": "line"})
        for k, column in enumerate(range(1, 2 + len(self._others()))):
            line.add_series({"name": [sheet, first - 1, column], "categories": [sheet, first, 0, last, 0],
                             "values": [sheet, first, column, last, column],
                             "line": {"color": _SERIES[k], "width": 2.25}, "smooth": False})  # fmt: skip
        line.set_title({"name": t("quote.chart_curve"), "name_font": title, "overlay": False})
        line.set_x_axis({"name": t("quote.axis_use"), "num_format": "0%", "num_font": font, "name_font": font | {"bold": False}})
        line.set_y_axis({"name": self.unit("EUR/1e6 output tokens"), "num_format": self.b.number("0.00"), "num_font": font,
                         "name_font": font | {"bold": False}, "major_gridlines": grid, "min": 0})  # fmt: skip
        line.set_legend({"position": "bottom", "font": font})
        bars = self.b.wb.add_chart({"type": "bar"})
        start = self._basis_row("capex")
        rows = [start, *(self._basis_row(n) for n in ("electricity", "maintenance", "running"))]
        cells = "(" + ",".join(f"'{sheet}'!$B${r + 1}" for r in rows) + ")"
        labels = "(" + ",".join(f"'{sheet}'!$A${r + 1}" for r in rows) + ")"
        parts = [self.v[n] for n in ("capex", "electricity", "maintenance", "running")]
        bars.add_series({"name": t("quote.label_tco"), "categories": f"={labels}", "values": f"={cells}", "fill": {"color": _SERIES[0]}, "gap": 60,
                         "categories_data": [t(f"quote.label_{n}") for n in ("capex", "electricity", "maintenance", "running")], "values_data": parts,
                         "data_labels": {"value": True, "num_format": self.b.number("#,##0"), "font": font}})  # fmt: skip
        bars.set_title({"name": t("quote.chart_tco"), "name_font": title, "overlay": False})
        bars.set_y_axis({"reverse": True, "num_font": font})
        bars.set_x_axis({"name": self.o.currency, "num_format": self.b.number("#,##0"), "num_font": font, "name_font": font | {"bold": False},
                         "major_gridlines": grid, "label_position": "high"})  # fmt: skip
        bars.set_legend({"none": True})
        for k, (chart, what) in enumerate(((line, "chart_curve"), (bars, "chart_tco"))):
            chart.set_size({"width": 476, "height": 310})
            chart.set_chartarea({"border": {"color": "#D9D9D9"}})
            ws.insert_chart(self.row, 0, chart, {"object_position": 3, "x_offset": 2 + k * 486, "y_offset": 4, "description": t(f"quote.{what}")})
        self.row += 16


# What an input may be when the customer changes it.
_LIMITS = {"utilization": (0.001, 1), "pue": (1, 10), "horizon_years": (0.1, 30), "output_tok_s": (0.001, 1e9), "residual_share": (0, 1),
           "idle_share": (0, 1), "rel": (0.001, 1000), "cloud_rate_hour": (0.0001, 1e6), "input_tokens": (1, 1e8), "output_tokens": (1, 1e8),
           "maintenance_share_year": (0, 1)}  # fmt: skip


def _exact(rate: Decimal) -> str:
    return formula.number(float(rate))


def _escaped(text: str) -> str:
    return text.replace("&", "&&")[:120]


def _pieces(text: str, most: int = 700) -> list[str]:
    """A paragraph in pieces that fit a row, cut between words."""
    out = []
    while len(text) > most:
        cut = text.rfind(" ", 0, most)
        cut = cut if cut > most // 2 else most
        out.append(text[:cut].rstrip())
        text = text[cut:].lstrip()
    return [*out, text]


def _pixels(width: float) -> int:
    """A column's width on the screen."""
    return int(width * 7 + 5)
