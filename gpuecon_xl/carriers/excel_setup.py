"""Excel for Windows on this machine: whether the add-in can work in it, and putting it where Excel starts it from.

Here: checks of Python, xlwings and Excel's settings, each with what to do; the folder XLSTART. Nothing is changed but the
add-in's own file. Not here: what the add-in consists of (`vba`).

Never run beside a real Excel. The checks were run on Linux with the registry and folders of a Windows machine played in.
"""

from __future__ import annotations

import os
import struct
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from gpuecon_xl.errors import BadFile, BadValue

ADDIN = "gpuecon.xlam"
OK, LOOK, BAD = "ok", "look", "bad"

_VERSIONS = ("16.0", "15.0", "14.0")


def _registry(path: str, value: str) -> Any:
    """A value of the registry, the user's before the machine's; None where there is none."""
    try:
        import winreg
    except ImportError:
        return None
    reg: Any = winreg
    for root in (reg.HKEY_CURRENT_USER, reg.HKEY_LOCAL_MACHINE):
        try:
            with reg.OpenKey(root, path) as key:
                return reg.QueryValueEx(key, value)[0]
        except OSError:
            continue
    return None


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


@dataclass(frozen=True)
class Machine:
    """What the checks look at; a test plays in another machine."""

    windows: bool = sys.platform == "win32"
    python: Path = field(default_factory=lambda: Path(sys.executable))
    prefixes: tuple[Path, ...] = field(default_factory=lambda: tuple(dict.fromkeys((Path(sys.prefix), Path(sys.base_prefix)))))
    python_version: tuple[int, int] = (sys.version_info[0], sys.version_info[1])
    bits: int = struct.calcsize("P") * 8
    env: Mapping[str, str] = field(default_factory=lambda: os.environ)
    registry: Callable[[str, str], Any] = _registry
    version: Callable[[str], str | None] = _version
    has_pywin32: bool = field(default_factory=lambda: find_spec("pythoncom") is not None)


@dataclass(frozen=True)
class Check:
    """One thing looked at: `state` is ok, look (works, but worth knowing) or bad (the add-in will not work)."""

    what: str
    state: str
    text: str


def start_folder(machine: Machine) -> Path | None:
    """The folder whose add-ins Excel opens when it starts, XLSTART of the user."""
    base = machine.env.get("APPDATA", "")
    return Path(base) / "Microsoft" / "Excel" / "XLSTART" if base else None


def interpreter(machine: Machine) -> Path:
    """The Python that Excel should start: the one at work, without a console window where there is such a one."""
    quiet = machine.python.with_name("pythonw.exe")
    return quiet if quiet.is_file() else machine.python


def checks(machine: Machine | None = None) -> list[Check]:
    """Every check, in the order in which a person would mend things."""
    m = machine or Machine()
    if not m.windows:
        return [Check("system", BAD, "not Windows: Excel's own add-in needs Excel for Windows; xlwings Lite or the LibreOffice extension work here"),
                _python(m), _xlwings(m)]  # fmt: skip
    return [Check("system", OK, "Windows"), _python(m), _xlwings(m), _pywin32(m), *_excel(m), *_trust(m), *_folders(m)]


def _python(m: Machine) -> Check:
    text = f"{m.python_version[0]}.{m.python_version[1]}, {m.bits} bit, {m.python}"
    if m.python_version < (3, 11):
        return Check("Python", BAD, f"{text}: Python 3.11 or newer is due")
    if "WindowsApps" in m.python.parts:
        return Check("Python", LOOK, f"{text}: Python from the Microsoft Store may be closed to Excel; one from python.org is safer")
    return Check("Python", OK, text)


def _xlwings(m: Machine) -> Check:
    version = m.version("xlwings")
    if version is None:
        return Check("xlwings", BAD, "not installed: pip install xlwings")
    if not m.windows:
        return Check("xlwings", OK, version)
    missing = [name for b in (32, 64) if not any((p / (name := f"xlwings{b}-{version}.dll")).is_file() for p in m.prefixes)]
    if missing:
        return Check("xlwings", BAD, f"{version}, but {' and '.join(missing)} not in {m.prefixes[0]}: pip install --force-reinstall xlwings")
    return Check("xlwings", OK, f"{version}; an add-in made with another version must be made again")


def _pywin32(m: Machine) -> Check:
    return Check("pywin32", OK, "installed") if m.has_pywin32 else Check("pywin32", BAD, "not installed: pip install pywin32")


def _office(m: Machine) -> str | None:
    for version in _VERSIONS:
        if m.registry(rf"Software\Microsoft\Office\{version}\Excel\InstallRoot", "Path") is not None:
            return version
        if m.registry(rf"Software\Microsoft\Office\{version}\Common\InstallRoot", "Path") is not None:
            return version
    if m.registry(r"Software\Microsoft\Office\ClickToRun\Configuration", "Platform") is not None:
        return _VERSIONS[0]
    return None


def _excel(m: Machine) -> list[Check]:
    version = _office(m)
    if version is None:
        return [Check("Excel", BAD, "not found in the registry: Excel for Windows, installed from Microsoft 365 or as Office 2010 or newer, is due")]
    platform = m.registry(r"Software\Microsoft\Office\ClickToRun\Configuration", "Platform")
    platform = platform or m.registry(rf"Software\Microsoft\Office\{version}\Outlook", "Bitness")
    bits = {"x64": ", 64 bit", "x86": ", 32 bit"}.get(str(platform), "")
    # Python runs as a process of its own, so Excel's bits need not be Python's; xlwings brings a library for either
    return [Check("Excel", OK, f"{version}{bits}; Python has {m.bits} bit, the two may differ")]


def _trust(m: Machine) -> list[Check]:
    version = _office(m) or _VERSIONS[0]

    def setting(name: str) -> Any:
        for base in (r"Software\Policies\Microsoft\Office", r"Software\Microsoft\Office"):  # a policy outranks the user
            found = m.registry(rf"{base}\{version}\Excel\Security", name)
            if found is not None:
                return found
        return None

    out = []
    macros = setting("VBAWarnings")
    trusted_off = m.registry(rf"Software\Microsoft\Office\{version}\Excel\Security\Trusted Locations", "AllLocationsDisabled")
    trusted_off = m.registry(rf"Software\Policies\Microsoft\Office\{version}\Excel\Security\Trusted Locations", "AllLocationsDisabled") or trusted_off
    if trusted_off == 1:
        state = OK if macros == 1 else BAD if macros in (3, 4) else LOOK
        out.append(Check("macros", state, "trusted locations are switched off; Excel asks or refuses: allow them in the Trust Center"))
    else:
        out.append(Check("macros", OK, "XLSTART is a trusted location, so its macros run" + (", others are refused" if macros in (3, 4) else "")))
    if setting("DisableAllAddins") == 1:
        out.append(Check("add-ins", BAD, "all add-ins are switched off: Trust Center, Add-ins"))
    elif setting("RequireAddinSig") == 1:
        out.append(Check("add-ins", BAD, "only signed add-ins are allowed: sign the file, or ask who looks after Office"))
    else:
        out.append(Check("add-ins", OK, "allowed"))
    asked = "on" if setting("AccessVBOM") == 1 else "off"
    out.append(Check("VBA project access", OK, f"{asked}; the add-in does not need it"))
    return out


def _cloud(m: Machine, path: Path) -> bool:
    homes = [m.env[k] for k in ("OneDrive", "OneDriveConsumer", "OneDriveCommercial") if m.env.get(k)]
    return any(str(path).lower().startswith(home.lower()) for home in homes)


def _folders(m: Machine) -> list[Check]:
    out = []
    folder = start_folder(m)
    if folder is None:
        return [Check("XLSTART", BAD, "APPDATA is not set, so the folder is unknown")]
    file = folder / ADDIN
    if not file.is_file():
        out.append(Check("XLSTART", LOOK, f"{ADDIN} is not in {folder}: gpuecon addin install"))
    else:
        out.append(_installed(m, file))
    synced = [what for what, path in (("XLSTART", folder), ("Python", m.python)) if _cloud(m, path)]
    if synced:
        out.append(Check("OneDrive", LOOK, f"{' and '.join(synced)} in a OneDrive folder: files may be online only; keep them on this machine"))
    else:
        out.append(Check("OneDrive", OK, "neither Python nor XLSTART is in it; workbooks may be"))
    return out


def _installed(m: Machine, file: Path) -> Check:
    import re
    import zipfile

    from gpuecon_xl.carriers.ovba import Project

    try:
        with zipfile.ZipFile(file) as package:
            text = Project(package.read("xl/vbaProject.bin")).modules["xlwings"].source
    except (BadFile, KeyError, OSError, zipfile.BadZipFile):
        return Check("XLSTART", BAD, f"{file} is no add-in of ours: gpuecon addin install --force")
    made = re.search(r"xlwings64-([\w.]+?)\.dll", text)
    version = m.version("xlwings")
    if made and made[1] != version:
        return Check("XLSTART", BAD, f"{file} was made with xlwings {made[1]}, installed is {version}: gpuecon addin install --force")
    try:
        with open(f"{file}:Zone.Identifier", encoding="utf-8"):  # Windows marks what came from the net; Excel blocks its macros
            return Check("XLSTART", BAD, f"{file} is marked as coming from the internet: its properties, Unblock")
    except OSError:
        return Check("XLSTART", OK, str(file))


def install(force: bool = False, machine: Machine | None = None) -> tuple[Path, dict[str, int]]:
    """Put the add-in into XLSTART; its path and counts.

    Raises
    ------
    BadValue anywhere but on Windows.
    """
    from gpuecon_xl.carriers.vba import build_addin

    m = machine or Machine()
    if not m.windows:
        raise BadValue("addin install works on Windows only, where Excel has XLSTART; addin build OUT.xlam writes the file to take there")
    folder = start_folder(m)
    if folder is None:
        raise BadValue("APPDATA is not set, so XLSTART is unknown; addin build OUT.xlam writes the file to put there")
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / ADDIN
    return target, build_addin(target, force, str(interpreter(m)))
