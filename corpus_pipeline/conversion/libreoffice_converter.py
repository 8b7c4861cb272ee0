"""Office formats from before 2007: LibreOffice writes the modern form, docling reads it.

LibreOffice runs without window, network (the worker has none) or macros, under a profile of its
own that is removed with its files, and as a child of the worker, so that it ends at the worker's
limits of time and memory.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

from corpus_pipeline.compute.isolation import die_with_parent
from corpus_pipeline.conversion.docling_converter import convert_bytes
from corpus_pipeline.conversion.file_format import FileFormat, sniff_format
from corpus_pipeline.conversion.properties import file_properties
from corpus_pipeline.conversion.source import ConversionInput, ConverterFailure
from corpus_pipeline.errors import ConversionError
from corpus_pipeline.records import ConvertedDocument, QuarantineReason

__all__ = ["LibreOfficeConverter", "libreoffice_version"]

_MODERN = {FileFormat.DOC: "docx", FileFormat.XLS: "xlsx", FileFormat.PPT: "pptx"}
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


class LibreOfficeConverter:
    """LibreOffice to docx, xlsx or pptx, then docling."""

    def convert(self, source: ConversionInput) -> ConvertedDocument:
        """The document.

        Raises:
            ConversionError: ``unsupported``: LibreOffice is not installed.
            ConverterFailure: LibreOffice cannot read the file.
        """
        program = _program()
        if program is None:
            raise ConversionError(
                "the file is in an office format from before 2007 (doc, xls, ppt), which takes LibreOffice to read",
                reason=QuarantineReason.UNSUPPORTED,
                remedy="Install LibreOffice (the program soffice) where conversion runs, "
                "or save the file as docx, xlsx, pptx or PDF.",
            )
        with tempfile.TemporaryDirectory(prefix="libreoffice-") as name:
            modern = _modern_copy(program, source, Path(name))
            extension = modern.suffix[1:]
            found = ConversionInput(modern, sniff_format(modern, extension), extension, None, source.max_pages)
            return convert_bytes(
                modern.read_bytes(), found.file_format, file_properties(found), max_pages=source.max_pages
            )


def _modern_copy(program: str, source: ConversionInput, folder: Path) -> Path:
    target = _MODERN[source.file_format]
    profile, given, made = folder / "profile", folder / f"document.{source.file_format.value}", folder / "made"
    (profile / "user").mkdir(parents=True)
    items = "".join(_ITEM.format(path=path, name=name, value=value) for path, name, value in _SETTINGS)
    (profile / "user" / "registrymodifications.xcu").write_text(_REGISTRY.format(items=items), encoding="utf-8")
    shutil.copyfile(source.path, given)
    command = [_itself(program), f"-env:UserInstallation={profile.as_uri()}", *_QUIET]
    command += ["--convert-to", target, "--outdir", str(made), str(given)]
    environment = {"HOME": str(folder), "TMPDIR": str(folder), "PATH": _PATH, "LC_ALL": "C.UTF-8"}
    for _ in range(STARTS):
        done = subprocess.run(  # noqa: S603 - a fixed program and options; the document has a name of ours
            command, capture_output=True, check=False, cwd=folder, env=environment, preexec_fn=die_with_parent
        )
        if done.returncode != RESTART_EXIT:
            break
    copy = made / f"document.{target}"
    if not copy.is_file():
        raise ConverterFailure(f"LibreOffice wrote no {target} (it ended with code {done.returncode})")
    return copy


def _itself(program: str) -> str:
    """The program behind its launcher, where it lies beside it.

    The launcher runs it as a child, which would outlive a launcher that is killed: the kernel's
    signal at the death of a parent reaches the launcher alone.
    """
    binary = Path(program).resolve().with_name("soffice.bin")
    return str(binary) if binary.is_file() else program


def _program() -> str | None:
    return next((found for name in _PROGRAMS if (found := shutil.which(name))), None)


def libreoffice_version() -> str:
    """Such as ``libreoffice 7.4``; empty when it is not installed."""
    program = _program()
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
