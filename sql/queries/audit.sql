-- name: document_formats
-- The format each converted document of a corpus was found to have.
SELECT DISTINCT ON (d.document_id) d.document_id, r.file_format
FROM corpus.documents d
JOIN corpus.conversion_routes r USING (source_sha256, converter_fingerprint)
WHERE d.corpus = :corpus
ORDER BY d.document_id, r.file_format;

-- name: save_report!
-- Keeps what a report compared; made again with the same results, its file may differ.
INSERT INTO corpus.conversion_audit_reports (report_id, corpus, html_sha256, converters, files)
VALUES (:report_id, :corpus, :html_sha256, :converters, :files)
ON CONFLICT (report_id) DO UPDATE SET html_sha256 = excluded.html_sha256, made_at = now();

-- name: report^
-- What a report compared.
SELECT corpus, html_sha256, converters, files FROM corpus.conversion_audit_reports WHERE report_id = :report_id;

-- name: save_audit!
-- Keeps a signed result once.
INSERT INTO corpus.conversion_audits
    (audit_id, report_id, html_sha256, corpus, reviewer, reviewed_on, comment, verdicts, record_sha256, recorded_by)
VALUES
    (:audit_id, :report_id, :html_sha256, :corpus, :reviewer, :reviewed_on, :comment, :verdicts, :record_sha256,
     :recorded_by)
ON CONFLICT (audit_id) DO NOTHING;

-- name: audits
-- Signed results of one corpus or of all, the newest first.
SELECT a.audit_id, a.corpus, a.reviewer, a.reviewed_on, a.comment, a.verdicts, a.record_sha256, a.report_id,
       a.html_sha256, r.converters, a.recorded_at, a.recorded_by
FROM corpus.conversion_audits a
JOIN corpus.conversion_audit_reports r USING (report_id)
WHERE :corpus::text IS NULL OR a.corpus = :corpus
ORDER BY a.recorded_at DESC, a.audit_id;
