"""One document in four formats: the same words from txt, html, pdf and xml, and the headings of the pdf.

    python -m benchmarks.conversion.rfc_formats FOLDER

``FOLDER`` holds ``rfcN.txt``, ``rfcN.html``, ``rfcN.pdf`` and ``rfcN.xml``.

===============  ==========================================================================================
measure          how
===============  ==========================================================================================
txt, pdf         normalised indel similarity of the sequence of words to that of the converted html
xml in html      share of the words of the source's paragraphs and titles found in order in the converted html
xml in xml       the same in the converted xml
headings         F1 of the headings of the converted pdf to the ``h1`` to ``h6`` of the html file itself
left             lines of running headers and footers, as pdfium shows them page by page, in the converted pdf
===============  ==========================================================================================
"""

from __future__ import annotations

import argparse
import re
import sys
import unicodedata
from pathlib import Path
from statistics import mean
from typing import Any

from lxml import etree, html
from rapidfuzz.distance import Indel, LCSseq

from benchmarks.conversion import measures
from benchmarks.conversion.pool_runs import PoolRun, convert_files, read_document, write_result
from corpus_pipeline.records import BlockKind, ConvertedDocument

FORMATS = ("txt", "html", "pdf", "xml")
NEEDED = {"txt": 0.97, "pdf": 0.95, "xml_in_html": 0.97, "headings": 0.90}
WORD = re.compile(r"\w+")
DASHES = re.compile("[\u00ad\u2010\u2011\u2012]")
PARAGRAPHS_AND_TITLES = ("t", "name", "title")
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
SKIPPED = ("references", "cref", "artwork", "sourcecode")
MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
HEADER = re.compile(rf"^RFC \d+ .{{3,90}} (?:{MONTHS}) \d{{4}}$")
FOOTER = re.compile(r"^.{3,60} (?:Informational|Standards Track|Best Current Practice|Experimental|Historic) Page \d+$")


def words(text: str) -> list[str]:
    """Words without case, hyphens at which a line may break taken as such."""
    return WORD.findall(DASHES.sub("-", unicodedata.normalize("NFKC", text)).casefold())


def xml_words(path: Path) -> list[str]:
    """Words of the paragraphs and titles of an RFC's source, in order."""
    tree = etree.parse(str(path), etree.XMLParser(resolve_entities=False, no_network=True, remove_comments=True))
    found: list[str] = []
    for element in tree.getroot().iter(*PARAGRAPHS_AND_TITLES):
        if any(parent.tag in SKIPPED for parent in element.iterancestors()):
            continue
        nested = element.tag == "t" and any(parent.tag in PARAGRAPHS_AND_TITLES for parent in element.iterancestors())
        if not nested:
            found += words("".join(element.itertext()))
    return found


def html_headings(path: Path) -> list[str]:
    """Headings of an html file, by its own tags."""
    tree = html.fromstring(path.read_bytes())
    headings = [" ".join(element.text_content().replace("¶", "").split()) for element in tree.iter(*HEADINGS)]
    return [heading for heading in headings if heading]


def furniture_lines(path: Path) -> list[str]:
    """Running headers and footers of a PDF, as plain text extraction shows them."""
    import pypdfium2

    document = pypdfium2.PdfDocument(path)
    lines = [" ".join(line.split()) for page in document for line in page.get_textpage().get_text_range().splitlines()]
    document.close()
    return [line for line in lines if HEADER.match(line) or FOOTER.match(line)]


def compare(stem: Path, documents: dict[str, ConvertedDocument]) -> dict[str, Any]:
    """All measures of one RFC."""
    of_html = words(documents["html"].text)
    source = xml_words(stem.with_suffix(".xml"))
    pdf = documents["pdf"]
    running = furniture_lines(stem.with_suffix(".pdf"))
    flat = " ".join(pdf.text.split())
    kinds = (BlockKind.TITLE, BlockKind.HEADING)
    return {
        "name": stem.name,
        "txt": Indel.normalized_similarity(words(documents["txt"].text), of_html),
        "pdf": Indel.normalized_similarity(words(pdf.text), of_html),
        "xml_in_html": LCSseq.similarity(source, of_html) / len(source),
        "xml_in_xml": LCSseq.similarity(source, words(documents["xml"].text)) / len(source),
        "headings": measures.f1(
            html_headings(stem.with_suffix(".html")), [block.text for block in pdf.blocks if block.kind in kinds]
        ),
        "running_lines": len(running),
        "left": sum(line in flat for line in set(running)),
    }


def main() -> int:
    """Converts and compares all; 1 if a figure is below what is needed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--most", type=int, help="only the first so many RFCs")
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    stems = sorted(path.with_suffix("") for path in arguments.folder.glob("rfc*.xml"))[: arguments.most]
    if not stems:
        sys.stderr.write(f"{arguments.folder} holds no rfc*.xml: nothing measured\n")
        return 0
    run = convert_files([stem.with_suffix(f".{each}") for stem in stems for each in FORMATS], workers=arguments.workers)
    rows = [compare(stem, documents) for stem in stems if len(documents := _documents(stem, run)) == len(FORMATS)]
    names = [name for name in rows[0] if name != "name"]
    report: dict[str, Any] = {
        "rfcs": len(stems),
        "compared": len(rows),
        "mean": {
            name: round(mean(row[name] for row in rows), 4) for name in names if name not in {"running_lines", "left"}
        },
        "lowest": {
            name: round(min(row[name] for row in rows), 4) for name in names if name not in {"running_lines", "left"}
        },
        "below_needed": {name: sum(row[name] < least for row in rows) for name, least in NEEDED.items()},
        "running_lines": sum(row["running_lines"] for row in rows),
        "running_lines_left": sum(row["left"] for row in rows),
        "needed": NEEDED,
        **run.costs(),
        "files": [
            {name: round(value, 4) if isinstance(value, float) else value for name, value in row.items()}
            for row in rows
        ],
    }
    _print(report)
    write_result("rfc_formats", report, arguments.output)
    enough = all(report["mean"][name] >= least for name, least in NEEDED.items())
    return 0 if enough and len(rows) == len(stems) and not report["running_lines_left"] else 1


def _documents(stem: Path, run: PoolRun) -> dict[str, ConvertedDocument]:
    outcomes = {each: run.outcomes[stem.with_suffix(f".{each}")] for each in FORMATS}
    for each, outcome in outcomes.items():
        if outcome.reason:
            print(f"{stem.name}.{each}: {outcome.reason} {outcome.message.splitlines()[0]}")
    return {each: read_document(outcome) for each, outcome in outcomes.items() if not outcome.reason}


def _print(report: dict[str, Any]) -> None:
    names = ("txt", "pdf", "xml_in_html", "xml_in_xml", "headings")
    print(f"{'':10}" + "".join(f"{name:>13}" for name in names) + f"{'running':>9}{'left':>6}")
    for row in report["files"]:
        print(
            f"{row['name']:10}"
            + "".join(f"{row[name]:13.4f}" for name in names)
            + f"{row['running_lines']:9}{row['left']:6}"
        )
    for which in ("mean", "lowest"):
        print(f"{which:10}" + "".join(f"{report[which][name]:13.4f}" for name in names))
    print(f"below what is needed: {report['below_needed']}; running lines left: {report['running_lines_left']}")


if __name__ == "__main__":
    sys.exit(main())
