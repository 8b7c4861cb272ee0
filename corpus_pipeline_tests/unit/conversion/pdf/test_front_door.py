import subprocess
import sys

from corpus_pipeline.conversion import pdf


def test_front_door_shows_the_agreed_names():
    assert pdf.__all__ == [
        "PDF_ENGINE_VERSION",
        "assemble_pdf_slices",
        "capture_pdf_slice",
        "convert_pdf",
        "pdf_slices",
    ]


def test_importing_loads_no_model_runtime():
    code = (
        "import sys, corpus_pipeline.conversion.pdf;"
        "print([name for name in ('torch', 'docling', 'pypdfium2') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
