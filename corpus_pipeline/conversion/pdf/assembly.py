"""From labelled blocks to a docling document: its page assembly, reading order and heading levels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import median
from typing import Any

from docling.datamodel.base_models import (
    AssembledUnit,
    Cluster,
    LayoutPrediction,
    Page,
    Table,
    TableStructurePrediction,
)
from docling.datamodel.document import ConversionResult
from docling.datamodel.pipeline_options import HeadingHierarchyOptions
from docling.models.postprocessing.reading_order_rb import PageElement, ReadingOrderPredictor
from docling.models.stages.heading_hierarchy.heading_hierarchy_model import HeadingHierarchyModel
from docling.models.stages.page_assemble.page_assemble_model import PageAssembleModel, PageAssembleOptions
from docling.models.stages.reading_order.readingorder_model import ReadingOrderModel, ReadingOrderOptions
from docling_core.types.doc import BoundingBox, CoordOrigin, DocItemLabel, TableCell
from docling_core.types.doc.page import BoundingRectangle, ColorRGBA, PdfTextCell, TextCell

from corpus_pipeline.conversion.pdf.blocks import BlockLabel, PageBlock
from corpus_pipeline.conversion.pdf.geometry import Box
from corpus_pipeline.conversion.pdf.lines import Line
from corpus_pipeline.conversion.pdf.page_layout import PageLayout
from corpus_pipeline.conversion.pdf.reading_order import reading_order
from corpus_pipeline.conversion.pdf.table_cells import TableGrid
from corpus_pipeline.conversion.pdf.wording import Hyphenation, runs_right_to_left

__all__ = ["assemble_document"]

LABELS = {
    BlockLabel.TEXT: DocItemLabel.TEXT,
    BlockLabel.HEADING: DocItemLabel.SECTION_HEADER,
    BlockLabel.LIST_ITEM: DocItemLabel.LIST_ITEM,
    BlockLabel.TABLE: DocItemLabel.TABLE,
    BlockLabel.CODE: DocItemLabel.CODE,
    BlockLabel.CAPTION: DocItemLabel.CAPTION,
    BlockLabel.FOOTNOTE: DocItemLabel.FOOTNOTE,
    BlockLabel.PICTURE: DocItemLabel.PICTURE,
    BlockLabel.PAGE_HEADER: DocItemLabel.PAGE_HEADER,
    BlockLabel.PAGE_FOOTER: DocItemLabel.PAGE_FOOTER,
}


class _PageAssembler(PageAssembleModel):
    """docling's page assembly with our joining of lines: quotes stay as they are, compounds keep their hyphen."""

    def __init__(self, hyphenation: Hyphenation) -> None:
        super().__init__(options=PageAssembleOptions())
        self._hyphenation = hyphenation

    def sanitize_text(self, lines: list[str]) -> str:
        return self._hyphenation.join(lines)


class _ColumnOrder(ReadingOrderPredictor):
    """docling's predictor of captions, footnotes and continued paragraphs, with our order of elements."""

    def predict_reading_order(
        self,
        page_elements: list[PageElement],
        page_separators: Any = None,  # noqa: ARG002 - the signature is docling's
    ) -> list[PageElement]:
        ordered: list[PageElement] = []
        for page in sorted({element.page_no for element in page_elements}):
            elements = [element for element in page_elements if element.page_no == page]
            height = elements[0].page_size.height
            boxes = [Box(element.l, height - element.t, element.r, height - element.b) for element in elements]
            turned = runs_right_to_left("".join(element.text for element in elements))
            ordered += [elements[position] for position in reading_order(boxes, height, right_to_left=turned)]
        return ordered


class _ReadPage:
    """Stands in for the page backend, long unloaded, which page assembly asks whether it is valid."""

    def is_valid(self) -> bool:
        return True

    def unload(self) -> None:
        """Nothing is held."""


def assemble_document(conversion: ConversionResult, layouts: Mapping[int, PageLayout]) -> ConversionResult:
    """Fills ``conversion.document`` from labelled layouts.

    Args:
        conversion: Holds all pages with their sizes and, in ``parsed_page``, hyperlinks.
        layouts: Layout of each page, by page number.
    """
    hyphenation = Hyphenation()
    hyphenation.learn(line.text for page in layouts.values() for block in page.blocks for line in block.lines)
    assembler = _PageAssembler(hyphenation)
    elements: list[Any] = []
    headers: list[Any] = []
    body: list[Any] = []
    for page in conversion.pages:
        assembled = _assemble_page(assembler, conversion, page, layouts[page.page_no], hyphenation)
        elements += assembled.elements
        headers += assembled.headers
        body += assembled.body
    conversion.assembled = AssembledUnit(elements=elements, headers=headers, body=body)
    ordering = ReadingOrderModel(options=ReadingOrderOptions(use_page_separators=False))
    ordering.ro_model = _ColumnOrder()  # type: ignore[no-untyped-call]  # its __init__ has no types
    conversion.document = ordering(conversion)
    conversion.document = HeadingHierarchyModel(options=HeadingHierarchyOptions(enabled=True))(conversion)
    return conversion


def _assemble_page(
    assembler: _PageAssembler,
    conversion: ConversionResult,
    page: Page,
    layout: PageLayout,
    hyphenation: Hyphenation,
) -> AssembledUnit:
    blocks = [block for block in layout.blocks if block.box.width > 0 and block.box.height > 0]
    clusters = [_cluster(position, block, layout) for position, block in enumerate(blocks)]
    page.predictions.layout = LayoutPrediction(clusters=clusters)
    page.predictions.tablestructure = TableStructurePrediction(
        table_map={
            cluster.id: _table(block.grid, cluster, layout, hyphenation)
            for block, cluster in zip(blocks, clusters, strict=True)
            if block.grid is not None
        }
    )
    page._backend = _ReadPage()  # type: ignore[assignment]  # noqa: SLF001 - docling's page assembly reads it
    list(assembler(conversion, [page]))
    page._backend = None  # noqa: SLF001
    code = {
        cluster.id: block for block, cluster in zip(blocks, clusters, strict=True) if block.label is BlockLabel.CODE
    }
    assembled: AssembledUnit = page.assembled  # type: ignore[assignment]  # page assembly has just set it
    for element in assembled.elements:
        if element.id in code:
            element.text = _code_text(code[element.id].lines)
    _keep_heading_cells(page, clusters)
    return assembled


def _keep_heading_cells(page: Page, clusters: Sequence[Cluster]) -> None:
    """Leaves on the page only what the heading hierarchy reads: the cells of headings."""
    cells = [cell for cluster in clusters if cluster.label == DocItemLabel.SECTION_HEADER for cell in cluster.cells]
    for cluster in clusters:
        cluster.cells = []
    if page.parsed_page is not None:
        page.parsed_page.textline_cells = cells
        page.parsed_page.word_cells = []
        page.parsed_page.char_cells = []


def _cluster(position: int, block: PageBlock, layout: PageLayout) -> Cluster:
    cells = [_cell(index, line, layout) for index, line in enumerate(block.lines)] if block.grid is None else []
    return Cluster(
        id=position,
        label=LABELS[block.label],
        bbox=_bounding_box(block.box, layout),
        confidence=1.0,
        cells=cells,
    )


def _bounding_box(box: Box, layout: PageLayout) -> BoundingBox:
    on_page = layout.capture.to_page(box)
    return BoundingBox(
        l=on_page.left, t=on_page.top, r=on_page.right, b=on_page.bottom, coord_origin=CoordOrigin.TOPLEFT
    )


def _cell(index: int, line: Line, layout: PageLayout) -> TextCell:
    sized = Box(line.box.left, line.box.bottom - line.size, line.box.right, line.box.bottom)
    return PdfTextCell(
        index=index,
        rect=BoundingRectangle.from_bounding_box(_bounding_box(sized, layout)),
        text=line.text,
        orig=line.text,
        rgba=ColorRGBA(r=0, g=0, b=0),
        from_ocr=False,
        rendering_mode=0,
        widget=False,
        font_key="",
        font_name=line.font.name,
    )


def _table(grid: TableGrid, cluster: Cluster, layout: PageLayout, hyphenation: Hyphenation) -> Table:
    cells = [
        TableCell(
            bbox=_bounding_box(cell.box, layout),
            row_span=cell.row_end - cell.row,
            col_span=cell.column_end - cell.column,
            start_row_offset_idx=cell.row,
            end_row_offset_idx=cell.row_end,
            start_col_offset_idx=cell.column,
            end_col_offset_idx=cell.column_end,
            text=hyphenation.join(cell.lines),
            column_header=cell.row < grid.header_rows,
        )
        for cell in grid.cells
    ]
    return Table(
        otsl_seq=[],
        table_cells=cells,
        num_rows=grid.row_count,
        num_cols=grid.column_count,
        id=cluster.id,
        page_no=layout.number,
        cluster=cluster,
        label=cluster.label,
    )


def _code_text(lines: Sequence[Line]) -> str:
    """Lines of code with the indentation and the blank lines the page shows."""
    left = min(line.box.left for line in lines)
    advance = median(line.box.width / max(1, len(line.text)) for line in lines) or 1.0
    steps = [lower.box.top - upper.box.top for upper, lower in pairwise(lines)]
    pitch = min((step for step in steps if step > 0), default=1.0)
    text = ""
    for line, step in zip(lines, [0.0, *steps], strict=True):
        text += "\n" * min(2, round(step / pitch)) + " " * round((line.box.left - left) / advance) + line.text
    return text
