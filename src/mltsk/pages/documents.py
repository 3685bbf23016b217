"""Small documents as HTML, Markdown or DOCX, from one list of blocks.

A DOCX file is a zip of a few XML files; what is needed of it here, headings, paragraphs
and tables, takes fewer lines than another dependency.
"""

import io
from collections.abc import Iterable, Sequence
from typing import NamedTuple
from xml.sax.saxutils import escape
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import numpy as np

from ..text import escape_markdown

# A file of a zip has a date; with this one the same document has the same bytes.
EPOCH = (1980, 1, 1, 0, 0, 0)
HEADING_SIZES = {1: 36, 2: 28}  # half points
TEXT_WIDTH = 9638  # of a page of A4 within its margins, in twentieths of a point
LETTERS_PER_LINE = 100  # of a table
MAX_WORD = 16  # letters; longer ones may be broken
NAMESPACE = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
CONTENT_TYPES = (
    '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" '
    'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Override PartName="/word/document.xml" ContentType="application/vnd.'
    'openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>'
)
RELATIONS = (
    '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/'
    'relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/'
    'officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/>'
    "</Relationships>"
)


class Heading(NamedTuple):
    """A heading of level 1 or 2."""

    text: str
    level: int = 2


class Paragraph(NamedTuple):
    """A paragraph of plain text."""

    text: str


class Table(NamedTuple):
    """A table of texts with a header."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]


DocumentBlock = Heading | Paragraph | Table


def markdown_text(blocks: Iterable[DocumentBlock]) -> str:
    """A document as Markdown; all of its texts stay text."""
    parts = []
    for block in blocks:
        if isinstance(block, Heading):
            parts.append(f"{'#' * block.level} {escape_markdown(block.text)}")
        elif isinstance(block, Paragraph):
            parts.append(escape_markdown(block.text))
        else:
            lines = [block.header, ["---"] * len(block.header), *block.rows]
            parts.append("\n".join(map(_markdown_line, lines)))
    return "\n\n".join(parts) + "\n"


def _markdown_line(cells: Sequence[str]) -> str:
    texts = [cell if cell == "---" else escape_markdown(cell) for cell in cells]
    return f"| {' | '.join(texts)} |"


def docx_bytes(blocks: Iterable[DocumentBlock]) -> bytes:
    """A document as the bytes of a DOCX file."""
    body = "".join(_docx_block(block) for block in blocks)
    document = (
        '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
        f'<w:document xmlns:w="{NAMESPACE}"><w:body>{body}'
        '<w:sectPr><w:pgSz w:w="11906" w:h="16838"/><w:pgMar w:top="1134" '
        'w:right="1134" w:bottom="1134" w:left="1134" w:header="0" w:footer="0" '
        'w:gutter="0"/></w:sectPr></w:body></w:document>'
    )
    files = {
        "[Content_Types].xml": CONTENT_TYPES,
        "_rels/.rels": RELATIONS,
        "word/document.xml": document,
    }
    buffer = io.BytesIO()
    with ZipFile(buffer, "w", ZIP_DEFLATED) as archive:
        for name, content in files.items():
            info = ZipInfo(name, EPOCH)
            info.compress_type = ZIP_DEFLATED
            archive.writestr(info, content)
    return buffer.getvalue()


def _docx_block(block: DocumentBlock) -> str:
    """The XML of a block."""
    if isinstance(block, Heading):
        return _docx_paragraph(
            block.text,
            is_bold=True,
            size=HEADING_SIZES[block.level],
            level=block.level,
        )
    if isinstance(block, Paragraph):
        return _docx_paragraph(block.text)
    borders = "".join(
        f'<w:{side} w:val="single" w:sz="4" w:color="999999"/>'
        for side in ("top", "left", "bottom", "right", "insideH", "insideV")
    )
    widths = _column_widths(block)
    rows = [_docx_row(block.header, widths, is_bold=True)]
    rows += [_docx_row(row, widths) for row in block.rows]
    grid = "".join(f'<w:gridCol w:w="{width}"/>' for width in widths)
    return (
        '<w:tbl><w:tblPr><w:tblW w:w="5000" w:type="pct"/>'
        f"<w:tblBorders>{borders}</w:tblBorders></w:tblPr><w:tblGrid>{grid}</w:tblGrid>"
        f"{''.join(rows)}</w:tbl>"
        f"{_docx_paragraph('')}"
    )


def _column_widths(table: Table) -> list[int]:
    """Widths of the columns of a table, in twentieths of a point.

    A column is as wide as its longest word asks for; what is left goes to columns of
    long texts.
    """
    least = []
    wished = []
    for cells in zip(table.header, *table.rows, strict=True):
        longest_word = max(len(word) for cell in cells for word in [*cell.split(), ""])
        least.append(min(longest_word, MAX_WORD) + 3)
        wished.append(sum(len(cell) for cell in cells))
    left = max(LETTERS_PER_LINE - sum(least), 0)
    letters = np.array(least) + left * np.array(wished) / max(sum(wished), 1.0)
    return np.round(TEXT_WIDTH * letters / letters.sum()).astype(int).tolist()


def _docx_row(
    cells: Sequence[str], widths: Sequence[int], *, is_bold: bool = False
) -> str:
    """The XML of a row of a table."""
    texts = []
    for cell, width in zip(cells, widths, strict=True):
        text = _docx_paragraph(cell, is_bold=is_bold, size=18)
        style = f'<w:tcPr><w:tcW w:w="{width}" w:type="dxa"/></w:tcPr>'
        texts.append(f"<w:tc>{style}{text}</w:tc>")
    kept = f"<w:trPr><w:cantSplit/>{'<w:tblHeader/>' * is_bold}</w:trPr>"
    return f"<w:tr>{kept}{''.join(texts)}</w:tr>"


def _docx_paragraph(
    text: str, *, is_bold: bool = False, size: int = 21, level: int = 0
) -> str:
    """The XML of a paragraph; size is in half points, level that of a heading."""
    outline = ""
    if level:
        outline = f'<w:pPr><w:keepNext/><w:outlineLvl w:val="{level - 1}"/></w:pPr>'
    printable = "".join(c for c in text if c.isprintable() or c == " ")
    style = f'<w:rPr>{"<w:b/>" * is_bold}<w:sz w:val="{size}"/></w:rPr>'
    words = f'<w:t xml:space="preserve">{escape(printable)}</w:t>'
    return f"<w:p>{outline}<w:r>{style}{words}</w:r></w:p>"
