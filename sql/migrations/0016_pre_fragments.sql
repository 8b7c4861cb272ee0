-- Fragments that repeat others: copies that need no row of their own in the index, and boilerplate.
CREATE TABLE corpus.fragment_marks (
    fragment_id text PRIMARY KEY REFERENCES corpus.fragments ON DELETE CASCADE,
    corpus text NOT NULL,
    copy_of text,
    also_in jsonb NOT NULL,
    is_boilerplate boolean NOT NULL,
    CHECK (copy_of IS DISTINCT FROM fragment_id),
    CHECK (copy_of IS NULL OR also_in = '[]'::jsonb)
);
COMMENT ON TABLE corpus.fragment_marks IS
    'One row a fragment that is a copy, has copies or is boilerplate; a function of fragments, metadata and decisions, made anew with them.';
COMMENT ON COLUMN corpus.fragment_marks.copy_of IS
    'The first fragment with the same embedded text, serving state, exclusion and metadata, access groups among it.';
COMMENT ON COLUMN corpus.fragment_marks.also_in IS
    'Of a first fragment: where else it stands, in order of document and place.';
COMMENT ON COLUMN corpus.fragment_marks.is_boilerplate IS
    'The same text, white space and case aside, is current in many version families of the corpus.';
CREATE INDEX fragment_marks_corpus ON corpus.fragment_marks (corpus);

CREATE FUNCTION corpus.marked_digest(digest text, mark corpus.fragment_marks) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE
    WHEN (mark).fragment_id IS NULL THEN digest
    ELSE encode(sha256(convert_to(digest || ',' || (mark).also_in || ',' || (mark).is_boilerplate, 'UTF8')), 'hex')
END;
COMMENT ON FUNCTION corpus.marked_digest(text, corpus.fragment_marks) IS
    'Digest of a fragment''s serving row: as it was for fragments like no other, else with its other sources and its mark.';
REVOKE EXECUTE ON FUNCTION corpus.marked_digest(text, corpus.fragment_marks) FROM PUBLIC;

-- Tables that serve already: rows staged before have no other source and no mark.
DO $$
DECLARE
    known record;
BEGIN
    FOR known IN
        SELECT DISTINCT serving_table FROM corpus.generations
        WHERE to_regclass(format('serving.%I', serving_table)) IS NOT NULL
    LOOP
        EXECUTE format(
            'ALTER TABLE serving.%I ADD COLUMN also_in jsonb NOT NULL DEFAULT ''[]'','
            ' ADD COLUMN is_boilerplate boolean NOT NULL DEFAULT false', known.serving_table);
    END LOOP;
END
$$;
