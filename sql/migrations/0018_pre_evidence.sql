-- Evidence packs: what was cited for a question, kept as it was.
CREATE TABLE corpus.evidence_packs (
    pack_id text PRIMARY KEY,
    evidence_hash text NOT NULL,
    question text NOT NULL,
    corpora text[] NOT NULL,
    documents text[] NOT NULL,
    content jsonb NOT NULL,
    replaces text,
    created_by text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE corpus.evidence_packs IS 'Evidence packs. A row is never changed; it goes only when one of its documents is purged.';
CREATE INDEX evidence_packs_documents ON corpus.evidence_packs USING gin (documents);
CREATE INDEX evidence_packs_created ON corpus.evidence_packs (created_at DESC, pack_id);

CREATE FUNCTION corpus.refuse_change() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RAISE EXCEPTION 'rows of % are never changed', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END
$$;
COMMENT ON FUNCTION corpus.refuse_change() IS 'Trigger of tables whose rows are immutable.';
CREATE TRIGGER evidence_packs_immutable BEFORE UPDATE ON corpus.evidence_packs
    FOR EACH ROW EXECUTE FUNCTION corpus.refuse_change();
