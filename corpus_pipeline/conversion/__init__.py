"""Files to structured documents: routing by content, converters in isolated workers, quarantine.

Not here: which files there are (``inventory``), which documents count (``versions``), and how
documents are cut (``chunking``). The PDF engine has a front door of its own, ``conversion.pdf``.
"""

from corpus_pipeline.conversion.catalogue import CATALOGUE, CatalogueEntry
from corpus_pipeline.conversion.file_format import FileFormat, sniff_format
from corpus_pipeline.conversion.job import ConversionJob, ConversionOutcome
from corpus_pipeline.conversion.pool import ConversionPool
from corpus_pipeline.conversion.repository import (
    converted_document,
    converted_documents,
    document_measures,
    documents,
    quarantined_files,
    request_replay,
    text_of,
)
from corpus_pipeline.conversion.routing import requested_converter, route
from corpus_pipeline.conversion.source import ConversionInput, Converter
from corpus_pipeline.conversion.stage import convert_corpus

__all__ = [
    "CATALOGUE",
    "CatalogueEntry",
    "ConversionInput",
    "ConversionJob",
    "ConversionOutcome",
    "ConversionPool",
    "Converter",
    "FileFormat",
    "convert_corpus",
    "converted_document",
    "converted_documents",
    "document_measures",
    "documents",
    "quarantined_files",
    "request_replay",
    "requested_converter",
    "route",
    "sniff_format",
    "text_of",
]
