-- Generations, the publication pointer, and what readers may see.
-- The pipeline's own login acts as a reader or evaluator in read sessions. Whoever made the roles may grant
-- them; where another login made them, an administrator grants them once (docs/generations.md).
DO $$
BEGIN
    IF NOT pg_has_role(current_user, 'corpus_reader', 'SET') THEN
        EXECUTE format('GRANT corpus_reader TO %I WITH INHERIT FALSE, SET TRUE', current_user);
    END IF;
    IF NOT pg_has_role(current_user, 'corpus_evaluator', 'SET') THEN
        EXECUTE format('GRANT corpus_evaluator TO %I WITH INHERIT FALSE, SET TRUE', current_user);
    END IF;
EXCEPTION WHEN insufficient_privilege THEN
    NULL;
END
$$;

CREATE TABLE corpus.generations (
    corpus text NOT NULL,
    generation integer NOT NULL CHECK (generation > 0),
    base_generation integer NOT NULL,
    status text NOT NULL CHECK (status IN ('staged', 'published', 'superseded', 'rolled_back', 'abandoned')),
    root_sha256 text NOT NULL,
    serving_table text NOT NULL,
    embedding_fingerprint text NOT NULL,
    chunker_fingerprint text NOT NULL,
    model jsonb NOT NULL,
    counts jsonb NOT NULL,
    as_of date NOT NULL,
    inputs jsonb NOT NULL,
    run_id text NOT NULL,
    staged_at timestamptz NOT NULL DEFAULT now(),
    published_at timestamptz,
    ended_at timestamptz,
    rows_removed_at timestamptz,
    PRIMARY KEY (corpus, generation)
);
COMMENT ON TABLE corpus.generations IS 'Every generation ever staged; rows stay when their data go, so that no number is used twice.';
COMMENT ON COLUMN corpus.generations.base_generation IS 'Published generation it was compared with; 0 before the first. Publication demands that it still is.';
COMMENT ON COLUMN corpus.generations.rows_removed_at IS 'Set when retention or a later staging removed rows of it; it can then never be served again.';

CREATE TABLE serving.publications (
    corpus text PRIMARY KEY,
    generation integer NOT NULL,
    root_sha256 text NOT NULL,
    serving_table text NOT NULL,
    embedding_fingerprint text NOT NULL,
    model jsonb NOT NULL,
    published_at timestamptz NOT NULL DEFAULT now(),
    held boolean NOT NULL DEFAULT false,
    held_by text,
    held_at timestamptz,
    held_reason text,
    FOREIGN KEY (corpus, generation) REFERENCES corpus.generations (corpus, generation)
);
COMMENT ON TABLE serving.publications IS 'The pointer: which generation of a corpus readers see, and where. One row a corpus.';
GRANT SELECT (corpus, generation, root_sha256, serving_table, embedding_fingerprint, model, published_at)
    ON serving.publications TO corpus_reader, corpus_evaluator;

CREATE TABLE corpus.publication_log (
    entry_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    corpus text NOT NULL,
    action text NOT NULL CHECK (action IN ('publish', 'rollback', 'resume')),
    from_generation integer,
    to_generation integer NOT NULL,
    who text NOT NULL,
    reason text NOT NULL,
    logged_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE corpus.publication_log IS 'Every move of the pointer and every lifted hold.';
CREATE INDEX publication_log_corpus ON corpus.publication_log (corpus, entry_id);

CREATE TABLE serving.role_groups (
    role_name name PRIMARY KEY,
    acl_groups text[]
);
COMMENT ON TABLE serving.role_groups IS
    'Access groups of a login. NULL marks the login of an application, which names the groups of its user in corpus.groups.';

CREATE TABLE serving.parents (
    corpus text NOT NULL,
    parent_id text NOT NULL,
    document_id text NOT NULL,
    serving_state text NOT NULL,
    section_path text[] NOT NULL,
    page_number integer,
    char_start integer NOT NULL,
    char_end integer NOT NULL,
    token_count integer NOT NULL,
    text text NOT NULL,
    text_sha256 text NOT NULL,
    acl_groups text[] NOT NULL,
    valid_from date,
    valid_until date,
    row_sha256 text NOT NULL,
    generation_from integer NOT NULL,
    generation_to integer
) PARTITION BY LIST (corpus);
COMMENT ON TABLE serving.parents IS 'Sections that can be read alone, for expanding a fragment; a partition a corpus is made at run time.';

-- The functions below run as their owner so that readers need no grant on the tables behind them. Each has a
-- fixed search_path, takes nothing but a table name, and is called once a query, in an uncorrelated subquery.
CREATE FUNCTION serving.published_generations(of_table text) RETURNS jsonb
LANGUAGE sql STABLE SECURITY DEFINER PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
    SELECT coalesce(jsonb_object_agg(p.corpus, p.generation), '{}'::jsonb)
    FROM serving.publications p
    WHERE of_table IS NULL OR p.serving_table = of_table
$$;
COMMENT ON FUNCTION serving.published_generations(text) IS 'Published generation by corpus, of those served from that table (NULL: from any).';

CREATE FUNCTION serving.evaluated_generations(of_table text) RETURNS jsonb
LANGUAGE sql STABLE SECURITY DEFINER PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
    WITH setting AS (
        SELECT split_part(s, ':', 1) AS corpus, split_part(s, ':', 2)::integer AS generation
        FROM (SELECT nullif(current_setting('corpus.evaluate_generation', true), '') AS s) given
        WHERE s IS NOT NULL
    ), visible AS (
        SELECT p.corpus, p.generation, p.serving_table
        FROM serving.publications p
        WHERE p.corpus NOT IN (SELECT corpus FROM setting)
        UNION ALL
        SELECT g.corpus, g.generation, g.serving_table
        FROM corpus.generations g
        JOIN setting USING (corpus, generation)
        WHERE g.rows_removed_at IS NULL
    )
    SELECT coalesce(jsonb_object_agg(v.corpus, v.generation), '{}'::jsonb)
    FROM visible v
    WHERE of_table IS NULL OR v.serving_table = of_table
$$;
COMMENT ON FUNCTION serving.evaluated_generations(text) IS
    'As published_generations, with the generation named in corpus.evaluate_generation (corpus:generation) in its place.';

CREATE FUNCTION serving.session_groups() RETURNS text[]
LANGUAGE plpgsql STABLE SECURITY DEFINER PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    mapped serving.role_groups%ROWTYPE;
    given text := btrim(coalesce(current_setting('corpus.groups', true), ''));
BEGIN
    -- session_user is who logged in, whatever SET ROLE says; current_user is the owner in here.
    SELECT * INTO mapped FROM serving.role_groups r WHERE r.role_name = session_user;
    IF mapped.acl_groups IS NOT NULL THEN
        RETURN mapped.acl_groups;
    END IF;
    IF mapped.role_name IS NULL AND session_user <> current_user
        AND NOT pg_has_role(session_user, 'corpus_writer', 'MEMBER') THEN
        RETURN '{}'::text[];
    END IF;
    IF given LIKE '{%' THEN
        RETURN given::text[];
    END IF;
    RETURN coalesce(regexp_split_to_array(nullif(given, ''), '\s*,\s*'), '{}'::text[]);
END
$$;
COMMENT ON FUNCTION serving.session_groups() IS
    'Access groups of this session: those mapped to its login; for the pipeline and mapped applications those in corpus.groups; else none.';

CREATE FUNCTION serving.as_of_date() RETURNS date
LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
    SELECT coalesce(nullif(current_setting('corpus.as_of', true), '')::date, (now() AT TIME ZONE 'UTC')::date)
$$;
COMMENT ON FUNCTION serving.as_of_date() IS 'The day validity is checked for: corpus.as_of, or today in UTC.';

CREATE FUNCTION serving.archived_shown() RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
    SELECT coalesce(current_setting('corpus.show_archived', true), '') IN ('on', 'true', '1')
$$;
COMMENT ON FUNCTION serving.archived_shown() IS
    'Whether the session asked, in corpus.show_archived, for what is kept out of answers; permissions and generation still hold.';

CREATE FUNCTION corpus.protect_serving_table(table_name text, of_table text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    rule record;
BEGIN
    EXECUTE format('ALTER TABLE serving.%I ENABLE ROW LEVEL SECURITY', table_name);
    EXECUTE format('GRANT SELECT ON serving.%I TO corpus_reader, corpus_evaluator', table_name);
    FOR rule IN VALUES ('published_rows', 'corpus_reader', 'published_generations'),
                       ('evaluated_rows', 'corpus_evaluator', 'evaluated_generations')
    LOOP
        EXECUTE format(
            'CREATE POLICY %1$I ON serving.%2$I FOR SELECT TO %3$I USING (
                 acl_groups && (SELECT serving.session_groups())
                 AND generation_from <= ((SELECT serving.%4$I(%5$L)) ->> corpus)::integer
                 AND (generation_to IS NULL OR generation_to > ((SELECT serving.%4$I(%5$L)) ->> corpus)::integer)
                 AND ((SELECT serving.archived_shown()) OR (
                     serving_state = ''current''
                     AND (valid_from IS NULL OR valid_from <= (SELECT serving.as_of_date()))
                     AND (valid_until IS NULL OR valid_until >= (SELECT serving.as_of_date())))))',
            rule.column1, table_name, rule.column2, rule.column3, of_table);
    END LOOP;
END
$$;
COMMENT ON FUNCTION corpus.protect_serving_table(text, text) IS
    'The one place that says which rows of a serving table readers and evaluators see. of_table NULL: the table serves all fingerprints.';

REVOKE EXECUTE ON FUNCTION corpus.protect_serving_table(text, text) FROM PUBLIC;
REVOKE EXECUTE ON FUNCTION serving.published_generations(text), serving.evaluated_generations(text),
    serving.session_groups(), serving.as_of_date(), serving.archived_shown() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION serving.published_generations(text), serving.session_groups(), serving.as_of_date(),
    serving.archived_shown() TO corpus_reader, corpus_evaluator;
GRANT EXECUTE ON FUNCTION serving.evaluated_generations(text) TO corpus_evaluator;

DO $$
BEGIN
    PERFORM corpus.protect_serving_table('parents', NULL);
END
$$;
