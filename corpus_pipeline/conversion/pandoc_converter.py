"""Org, RTF and others: pandoc to HTML in its sandbox, then docling's HTML backend.

unstructured reads these formats through pandoc too, but without the sandbox, in which pandoc
follows ``#+INCLUDE`` and image paths of the document to any file of the machine.
"""

from __future__ import annotations

import re
import subprocess

from corpus_pipeline.compute import die_with_parent
from corpus_pipeline.conversion.docling_converter import convert_bytes
from corpus_pipeline.conversion.file_format import FileFormat
from corpus_pipeline.conversion.properties import html_properties
from corpus_pipeline.conversion.source import ConversionInput, ConverterFailure
from corpus_pipeline.errors import ModelUnavailableError
from corpus_pipeline.records import ConvertedDocument

__all__ = ["PandocConverter", "pandoc_html"]

_PANDOC_NAMES = {
    FileFormat.ORG: "org",
    FileFormat.RTF: "rtf",
    FileFormat.RST: "rst",
    FileFormat.EPUB: "epub",
    FileFormat.LATEX: "latex",
}


class PandocConverter:
    """pandoc, sandboxed, whose HTML is read by docling."""

    def convert(self, source: ConversionInput) -> ConvertedDocument:
        """The document with headings, lists, tables and code as pandoc finds them.

        Raises:
            ConverterFailure: pandoc cannot read the file.
        """
        html = pandoc_html(source)
        properties = html_properties(html)
        if properties.get("title") == _NO_TITLE:
            del properties["title"]
        return convert_bytes(html.encode(), FileFormat.HTML, properties, max_pages=source.max_pages)


_NO_TITLE = "document"
_REPEATED_HEAD = re.compile(rb"\\endfirsthead.*?\\endhead", re.DOTALL)


def _pandoc_input(source: ConversionInput) -> bytes:
    """The file; of a long LaTeX table, which has its head twice for the page breaks, the first one."""
    data = source.path.read_bytes()
    return _REPEATED_HEAD.sub(rb"\\endhead", data) if source.file_format is FileFormat.LATEX else data


def pandoc_html(source: ConversionInput) -> str:
    """The file as an HTML page, made without reading anything else.

    Raises:
        ConverterFailure: pandoc cannot read the file.
        ModelUnavailableError: pandoc is not installed.
    """
    import pypandoc

    try:
        program = pypandoc.get_pandoc_path()
    except OSError as error:
        raise ModelUnavailableError(
            "pandoc is missing, which Org and RTF files need", remedy="pip install pypandoc-binary"
        ) from error
    command = [program, "--sandbox", "--standalone", "--wrap=none", "--no-highlight", "--mathml"]
    command += [f"--metadata=pagetitle:{_NO_TITLE}", f"--from={_PANDOC_NAMES[source.file_format]}", "--to=html"]
    done = subprocess.run(  # noqa: S603 - fixed program and options; the document goes in as bytes
        command, input=_pandoc_input(source), capture_output=True, check=False, preexec_fn=die_with_parent
    )
    if done.returncode:
        raise ConverterFailure(f"pandoc ended with code {done.returncode}")
    return done.stdout.decode("utf-8", "replace")
