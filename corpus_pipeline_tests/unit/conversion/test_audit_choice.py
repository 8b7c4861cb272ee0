"""Which files an audit looks at, and which lines repeat from page to page."""

from __future__ import annotations

from corpus_pipeline.conversion.audit.choosing import choose_files
from corpus_pipeline.conversion.audit.comparing import repeated_lines
from corpus_pipeline.records import SourceFile


def file(name: str, size: int) -> SourceFile:
    return SourceFile(
        corpus="c",
        document_id=f"c/{name}",
        relative_path=name,
        source_uri=f"/c/{name}",
        sha256="0" * 64,
        size_bytes=size,
        extension=name.rpartition(".")[2],
    )


def test_files_of_evenly_spread_size_stand_for_each_format() -> None:
    files = [file(f"{size}.pdf", size) for size in range(100, 0, -1)] + [file("a.md", 1), file("b.xyz", 5)]
    formats = {each.document_id: {"pdf": "pdf", "md": "md"}.get(each.extension, "") for each in files}
    chosen = [(name, each.relative_path) for name, each in choose_files(files, formats, 2)]
    assert chosen == [("md", "a.md"), ("not converted: xyz", "b.xyz"), ("pdf", "26.pdf"), ("pdf", "76.pdf")]
    assert choose_files(reversed(files), formats, 2) == choose_files(files, formats, 2)


def test_no_file_is_chosen_twice() -> None:
    chosen = choose_files([file("a.md", 1), file("b.md", 1)], {}, 5)
    assert [each.relative_path for _, each in chosen] == ["a.md", "b.md"]


def test_lines_that_repeat_but_for_their_number_are_running_headers() -> None:
    pages = [["Yearly report", "Chapter", f"Page {number} of 9"] for number in range(1, 10)]
    pages[3][1] = "Another"
    assert repeated_lines(pages) == ["Yearly report", "Chapter", "Page 1 of 9"]
    assert repeated_lines([[str(number) + "x" * number] for number in range(9)]) == []
