"""What converters used to lose: text behind inline XML, descriptions, senders."""

import zipfile

import pytest
from bs4 import BeautifulSoup

from corpus_pipeline.conversion import ConversionInput, FileFormat
from corpus_pipeline.conversion.docling_converter import DoclingConverter
from corpus_pipeline.conversion.html_preparation import prepared_html
from corpus_pipeline.conversion.properties import file_properties
from corpus_pipeline.conversion.unstructured_converter import UnstructuredConverter


def test_text_behind_an_inline_element_of_generic_xml_is_kept(tmp_path):
    path = tmp_path / "a.xml"
    path.write_text(
        "<doc><section><name>Terms</name><t>At the time <xref target='A'>Annex A</xref> was published, it applied "
        "to <em>all</em> members.</t><t>Second.</t></section></doc>"
    )
    text = UnstructuredConverter().convert(ConversionInput(path, FileFormat.XML, "xml")).text
    assert "At the time Annex A was published, it applied to all members." in text
    assert text.index("Terms") < text.index("At the time") < text.index("Second.")


def test_description_of_a_book_is_a_property(tmp_path):
    path = tmp_path / "a.epub"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("META-INF/container.xml", '<container><rootfile full-path="b.opf"/></container>')
        archive.writestr("b.opf", "<package><description>Rules of  the house</description></package>")
    assert file_properties(ConversionInput(path, FileFormat.EPUB, "epub")) == {"description": "Rules of the house"}


def test_message_without_readable_container_has_no_properties(tmp_path):
    path = tmp_path / "a.msg"
    path.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 cut off")
    assert file_properties(ConversionInput(path, FileFormat.MSG, "msg")) == {}


def test_controls_of_a_web_page_are_cut_and_questions_that_open_an_answer_are_kept(tmp_path):
    path = tmp_path / "a.html"
    path.write_text(
        "<html><body><h1>Help</h1><button>move to sidebar</button>"
        "<input type='checkbox' id='languages' role='button' aria-haspopup='true'>"
        "<label for='languages'><span>154 languages</span></label>"
        "<input type='checkbox' id='agree'><label for='agree'>I agree to the terms</label>"
        "<h2><button>How are refunds paid?</button></h2><p>By bank transfer.</p>"
        "<div><button aria-expanded='false'>How long does it take?</button><p>Five days.</p></div></body></html>"
    )
    text = DoclingConverter().convert(ConversionInput(path, FileFormat.HTML, "html")).text
    assert "move to sidebar" not in text
    assert "154 languages" not in text
    for kept in (
        "Help",
        "I agree to the terms",
        "How are refunds paid?",
        "By bank transfer.",
        "How long",
        "Five days.",
    ):
        assert kept in text


@pytest.mark.parametrize(
    ("page", "kept"),
    [
        ("<button>Menu<h1>Title</h1><p>All the text.</p>", ("Title", "All the text.")),  # never closed
        ("<button><h3>Plan A</h3><p>costs 5 euros</p></button>", ("Plan A", "costs 5 euros")),
        ("<p>Click <button>Save</button> to store it.</p>", ("Click Save to store it.",)),
        ("<p>An <a aria-haspopup='dialog' href='#g'>annuity</a> is paid.</p>", ("annuity",)),
        ("<p><a aria-haspopup='false' href='x'>read on</a></p>", ("read on",)),
        (
            "<button class='accordion'>How long?</button><div class='panel'>Five days.</div>",
            ("How long?", "Five days."),
        ),
        ("<h2><button aria-haspopup='true'>Refunds</button></h2><p>Thirty days.</p>", ("Refunds", "Thirty days.")),
        ("<div><button role='tab'>Windows</button><button role='tab'>Linux</button></div>", ("Windows", "Linux")),
    ],
)
def test_a_button_that_holds_or_heads_text_is_kept(tmp_path, page, kept):
    path = tmp_path / "a.html"
    path.write_text(f"<html><body><h1>Page</h1><p>Some text.</p><div>{page}</div></body></html>")
    prepared = prepared_html(path.read_bytes()).decode()
    words = " ".join(BeautifulSoup(prepared, "html.parser").get_text(" ").split())
    for text in kept:
        assert text in words
