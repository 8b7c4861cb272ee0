"""LibreOffice, run once for one file: without window, macros or links, under a profile of its own.

It is a child of the worker, so that it ends at the worker's limits of time and memory, and has no
network because the worker has none. Its profile lies in the folder of its files and goes with them.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
import time
from functools import cache
from pathlib import Path

from corpus_pipeline.compute import die_with_parent

__all__ = ["REFUSED", "libreoffice_program", "libreoffice_version", "saved_as"]

_PROGRAMS = ("soffice", "libreoffice")
_SETTINGS = (
    ("/org.openoffice.Office.Common/Security/Scripting", "MacroSecurityLevel", "3"),
    ("/org.openoffice.Office.Common/Security/Scripting", "DisableMacrosExecution", "true"),
    ("/org.openoffice.Office.Common/Security/Scripting", "BlockUntrustedRefererLinks", "true"),
    ("/org.openoffice.Office.Common/Security/Scripting", "DisableActiveContent", "true"),
    ("/org.openoffice.Office.Writer/Content/Update", "Link", "0"),
    ("/org.openoffice.Office.Calc/Content/Update", "Link", "1"),
)
"""No macro, no active content, no link of a document is followed; ``Link`` counts differently in the two programs."""
_REGISTRY = '<?xml version="1.0" encoding="UTF-8"?>\n<oor:items xmlns:oor="http://openoffice.org/2001/registry">{items}</oor:items>'
_ITEM = '<item oor:path="{path}"><prop oor:name="{name}" oor:op="fuse"><value>{value}</value></prop></item>'
_QUIET = [
    "--headless",
    "--invisible",
    "--norestore",
    "--nologo",
    "--nodefault",
    "--nofirststartwizard",
    "--nolockcheck",
]
_PATH = "/usr/local/bin:/usr/bin:/bin"
VERSION_SECONDS = 60
RESTART_EXIT = 81
"""It asks its launcher in this way to be started again; a new profile has it do so once."""
STARTS = 3
REFUSED = "it could not open the file"
"""How LibreOffice ended when it is well and the file is not: in good order, without a copy."""


def libreoffice_program() -> str | None:
    """Path of the program; ``None`` when it is not installed."""
    return next((found for name in _PROGRAMS if (found := shutil.which(name))), None)


def saved_as(
    target: str, source: Path, extension: str, folder: Path, *, program: str, timeout_seconds: float | None = None
) -> tuple[Path | None, str]:
    """Has LibreOffice save a file in another format.

    Args:
        target: Extension of the format.
        source: The file; it is given to LibreOffice under a name of ours.
        extension: By which LibreOffice knows the file's format.
        folder: Empty; everything is written here.
        program: From :func:`libreoffice_program`.
        timeout_seconds: Of wall time; the worker's limit holds in any case.

    Returns:
        The copy, or ``None`` and how LibreOffice ended.
    """
    profile, given, made = folder / "profile", folder / f"document.{extension}", folder / "made"
    (profile / "user").mkdir(parents=True)
    items = "".join(_ITEM.format(path=path, name=name, value=value) for path, name, value in _SETTINGS)
    (profile / "user" / "registrymodifications.xcu").write_text(_REGISTRY.format(items=items), encoding="utf-8")
    shutil.copyfile(source, given)
    command = [_itself(program), f"-env:UserInstallation={profile.as_uri()}", *_QUIET]
    command += ["--convert-to", target, "--outdir", str(made), str(given)]
    try:
        code = _run(command, folder, timeout_seconds)
    except subprocess.TimeoutExpired:
        return None, f"it took more than {timeout_seconds:g} seconds"
    copy = made / f"document.{target}"
    if copy.is_file():
        return copy, ""
    return None, f"it ended with code {code}" if code else REFUSED


def _run(command: list[str], folder: Path, timeout_seconds: float | None) -> int:
    environment = {"HOME": str(folder), "TMPDIR": str(folder), "PATH": _PATH, "LC_ALL": "C.UTF-8"}
    deadline = None if timeout_seconds is None else time.monotonic() + timeout_seconds
    code = RESTART_EXIT
    for _ in range(STARTS):
        left = None if deadline is None else max(0.0, deadline - time.monotonic())
        code = subprocess.run(  # noqa: S603 - a fixed program and options; the document has a name of ours
            command, capture_output=True, check=False, cwd=folder, env=environment, preexec_fn=die_with_parent,
            timeout=left,
        ).returncode  # fmt: skip
        if code != RESTART_EXIT:
            break
    return code


def _itself(program: str) -> str:
    """The program behind its launcher, where it lies beside it.

    The launcher runs it as a child, which would outlive a launcher that is killed: the kernel's
    signal at the death of a parent reaches the launcher alone.
    """
    binary = Path(program).resolve().with_name("soffice.bin")
    return str(binary) if binary.is_file() else program


def libreoffice_version() -> str:
    """Such as ``libreoffice 7.4``; empty when it is not installed."""
    program = libreoffice_program()
    return _version_of(program) if program else ""


@cache
def _version_of(program: str) -> str:
    with tempfile.TemporaryDirectory(prefix="libreoffice-") as folder:
        try:
            said = subprocess.run(  # noqa: S603 - a fixed program and option
                [program, f"-env:UserInstallation={Path(folder).as_uri()}", "--version"],
                capture_output=True, check=False, timeout=VERSION_SECONDS, text=True,
                env={"HOME": folder, "PATH": _PATH},
            ).stdout  # fmt: skip
        except (OSError, subprocess.TimeoutExpired):
            return "libreoffice"
    found = re.search(r"\d+\.\d+", said)
    return f"libreoffice {found.group()}" if found else "libreoffice"
