"""The conversion audit: sources beside what each converter makes of them, for a person to judge.

Here: choosing files, drawing and converting them in isolated workers, the page, and the signed
results that experiments refer to by their id. Not here: which converter a corpus uses, which
``conversion.overrides`` of corpora.yaml says.
"""

from corpus_pipeline.conversion.audit.making import make_audit
from corpus_pipeline.conversion.audit.repository import recorded_audits
from corpus_pipeline.conversion.audit.result import SignedResult, read_result, record_result

__all__ = ["SignedResult", "make_audit", "read_result", "record_result", "recorded_audits"]
