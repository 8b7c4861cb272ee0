-- Lexical ranking: analysed texts, statistics of each generation, and BM25 for readers.
-- Serving tables of the layout before this one stay as they are and serve until their corpus is staged again,
-- which makes a table of the new layout beside them and moves the pointer.
CREATE TABLE corpus.analysed_texts (
    analyser text NOT NULL,
    embedded_sha256 text NOT NULL,
    term_count integer NOT NULL,
    terms integer[] NOT NULL,
    term_levels public.sparsevec(1000000000) NOT NULL,
    PRIMARY KEY (analyser, embedded_sha256)
);
COMMENT ON TABLE corpus.analysed_texts IS
    'Terms of each text, once for each analyser, shared by all corpora and generations: a cache. No word is kept, only its number.';
COMMENT ON COLUMN corpus.analysed_texts.term_levels IS
    'A 1 at (16 - n) * 62500000 + term for each term that occurs n times (16 stands for more): the frequent ones first.';

CREATE TABLE corpus.term_statistics (
    corpus text NOT NULL,
    term integer NOT NULL,
    fragment_count integer NOT NULL CHECK (fragment_count > 0),
    generation_from integer NOT NULL,
    generation_to integer,
    PRIMARY KEY (corpus, term, generation_from)
);
COMMENT ON TABLE corpus.term_statistics IS
    'In how many current fragments of a generation each term occurs, whoever may see them; readers have no access.';

ALTER TABLE corpus.generations
    ADD COLUMN analyser jsonb,
    ADD COLUMN lexical_fragments integer,
    ADD COLUMN lexical_terms bigint;
COMMENT ON COLUMN corpus.generations.analyser IS
    'What words are made of in this generation; NULL for one that was staged before there was lexical ranking.';
COMMENT ON COLUMN corpus.generations.lexical_fragments IS 'Its current fragments; with lexical_terms the mean length that BM25 asks for.';

ALTER TABLE serving.publications ADD COLUMN analyser jsonb;
COMMENT ON COLUMN serving.publications.analyser IS
    'What the words of a query must be made of; NULL while the corpus is served without lexical ranking.';
GRANT SELECT (analyser) ON serving.publications TO corpus_reader, corpus_evaluator;

CREATE FUNCTION serving.passes_filters(
    filters jsonb, product_key text, domain_key text, audience_key text, source_class_key text, region_key text,
    environment_key text, plan_tiers text[], answer_use text, attributes jsonb) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- Calls are replaced by these conditions before planning; those without a filter vanish, and the equalities of
-- text are leakproof, so that their indexes serve readers under row-level security.
RETURN (filters ->> 'product' IS NULL OR product_key = lower(filters ->> 'product'))
   AND (filters ->> 'domain' IS NULL OR domain_key = lower(filters ->> 'domain'))
   AND (filters ->> 'audience' IS NULL OR audience_key = lower(filters ->> 'audience'))
   AND (filters ->> 'source_class' IS NULL OR source_class_key = lower(filters ->> 'source_class'))
   AND (filters ->> 'region' IS NULL OR region_key = ANY (ARRAY['', lower(filters ->> 'region')]))
   AND (filters ->> 'environment' IS NULL OR environment_key = ANY (ARRAY['', lower(filters ->> 'environment')]))
   AND (filters ->> 'plan_tier' IS NULL OR cardinality(plan_tiers) = 0
        OR EXISTS (SELECT FROM unnest(plan_tiers) AS tier WHERE lower(tier) = lower(filters ->> 'plan_tier')))
   AND (filters ->> 'customer_facing' IS DISTINCT FROM 'true' OR answer_use = 'any')
   AND (filters -> 'attributes' IS NULL
        OR NOT EXISTS (SELECT FROM jsonb_each_text(filters -> 'attributes') AS wanted
                       WHERE lower(attributes ->> wanted.key) IS DISTINCT FROM lower(wanted.value)));
COMMENT ON FUNCTION serving.passes_filters(jsonb, text, text, text, text, text, text, text[], text, jsonb) IS
    'The one place that says what a filter means; for vectors and words alike. Keys are in lower case, those of region and environment empty where none is declared.';

CREATE FUNCTION corpus.lexical_candidates(
    rule name, of_table text, of_corpus text, of_generation integer, query_terms integer[], filters jsonb, most integer)
RETURNS TABLE (fragment_id text, bm25 double precision)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET work_mem = '64MB' SET jit = off
AS $$
DECLARE
    k1 CONSTANT double precision := 1.5;
    b CONSTANT double precision := 0.75;
    levels CONSTANT integer := 16;
    buckets CONSTANT bigint := 62500000;
    fragments double precision;
    mean_terms double precision;
    day CONSTANT date := serving.as_of_date();
    visible text;
    score text;
    known integer[];
    weights double precision[];
    frequencies integer[];
    needed integer;
    seen integer := 0;
    rest double precision;
    found_ids text[];
    found_scores double precision[];
BEGIN
    -- Whatever can fail for what the caller has set or given fails here, not on the first row that it is tried on:
    -- an error must not tell that a row exists.
    PERFORM serving.session_groups();
    IF jsonb_typeof(filters -> 'attributes') <> 'object' THEN
        RAISE EXCEPTION 'the filter attributes must be an object' USING ERRCODE = 'invalid_parameter_value';
    END IF;

    SELECT g.lexical_fragments, g.lexical_terms::double precision / nullif(g.lexical_fragments, 0)
    INTO fragments, mean_terms
    FROM corpus.generations g
    WHERE g.corpus = of_corpus AND g.generation = of_generation;

    SELECT array_agg(t.term ORDER BY t.weight DESC, t.term), array_agg(t.weight ORDER BY t.weight DESC, t.term),
           array_agg(t.fragment_count ORDER BY t.weight DESC, t.term)
    INTO known, weights, frequencies
    FROM (
        SELECT s.term, s.fragment_count,
               count(*) * ln(1 + (fragments - s.fragment_count + 0.5) / (s.fragment_count + 0.5)) AS weight
        FROM unnest(query_terms) AS given (term)
        JOIN corpus.term_statistics s ON s.corpus = of_corpus AND s.term = given.term
             AND s.generation_from <= of_generation AND (s.generation_to IS NULL OR s.generation_to > of_generation)
        GROUP BY s.term, s.fragment_count
    ) t;
    IF known IS NULL OR mean_terms IS NULL OR coalesce(most, 0) < 1 THEN
        RETURN;
    END IF;

    -- What a reader may see is what the policy of the table says, word for word.
    SELECT pg_get_expr(p.polqual, p.polrelid) INTO STRICT visible
    FROM pg_policy p
    WHERE p.polrelid = format('serving.%I', of_table)::regclass AND p.polname = rule;

    -- The inner product at one level is the weight of the query's terms that occur so many times.
    SELECT string_agg(
        format('%s / (%s + n.norm) * (%L::public.sparsevec OPERATOR(public.<#>) f.term_levels)', -l.level, l.level, l.query),
        ' + ' ORDER BY l.level)
    INTO score
    FROM (
        SELECT level, format('{%s}/%s', string_agg(format('%s:%s', (levels - level) * buckets + w.term + 1, w.weight), ','),
                             levels * buckets) AS query
        FROM generate_series(1, levels) AS level, unnest(known, weights) AS w (term, weight)
        GROUP BY level
    ) l;

    -- MaxScore (Turtle and Flood 1995): rare terms first. A fragment without any of the terms taken so far scores
    -- less than the others could add up to; once that is below the last of the best, nothing is missing.
    needed := 1;
    WHILE needed < cardinality(known)
        AND (SELECT sum(f) FROM unnest(frequencies[:needed]) AS f) < 20 * most LOOP
        needed := needed + 1;
    END LOOP;
    LOOP
        seen := needed;
        EXECUTE format(
            'SELECT array_agg(best.fragment_id ORDER BY best.bm25 DESC, best.fragment_id COLLATE "C"),
                    array_agg(best.bm25 ORDER BY best.bm25 DESC, best.fragment_id COLLATE "C")
             FROM (
                 SELECT f.fragment_id, %s AS bm25
                 FROM serving.%I AS f, LATERAL (SELECT $1 + $2 * f.term_count AS norm OFFSET 0) AS n
                 WHERE f.corpus = %L AND f.serving_state = ''current'' AND f.answer_use <> ''never''
                   AND f.terms && %L::integer[] AND (%s)
                   AND (f.valid_from IS NULL OR f.valid_from <= $3)
                   AND (f.valid_until IS NULL OR f.valid_until >= $3)
                   AND serving.passes_filters(%L::jsonb, f.product_key, f.domain_key, f.audience_key, f.source_class_key,
                                              f.region_key, f.environment_key, f.plan_tiers, f.answer_use, f.attributes)
                 ORDER BY bm25 DESC, f.fragment_id COLLATE "C"
                 LIMIT %s
             ) AS best',
            score, of_table, of_corpus, known[:needed], visible, coalesce(filters, '{}'), most)
        INTO found_ids, found_scores
        USING k1 * (1 - b), k1 * b / mean_terms, day;
        EXIT WHEN needed = cardinality(known);
        -- The most that the terms left out can add: all at the highest level in the shortest text.
        IF cardinality(found_ids) = most THEN
            WHILE needed < cardinality(known) LOOP
                SELECT sum(w) * levels / (levels + k1 * (1 - b)) INTO rest FROM unnest(weights[needed + 1:]) AS w;
                EXIT WHEN rest < found_scores[most];
                needed := needed + 1;
            END LOOP;
        ELSE
            needed := cardinality(known);
        END IF;
        EXIT WHEN needed = seen;
    END LOOP;
    RETURN QUERY SELECT * FROM unnest(found_ids, found_scores);
END
$$;
COMMENT ON FUNCTION corpus.lexical_candidates(name, text, text, integer, integer[], jsonb, integer) IS
    'The best fragments by BM25 among the rows that the named policy of the table shows; ties in order of fragment id.';

CREATE FUNCTION serving.lexical_candidates(
    of_corpus text, query_terms integer[], filters jsonb DEFAULT '{}', most integer DEFAULT 10)
RETURNS TABLE (fragment_id text, bm25 double precision)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
    SELECT c.fragment_id, c.bm25
    FROM serving.publications p,
         corpus.lexical_candidates('published_rows', p.serving_table, p.corpus, p.generation, query_terms, filters, most) c
    WHERE p.corpus = of_corpus AND p.analyser IS NOT NULL
$$;
COMMENT ON FUNCTION serving.lexical_candidates(text, integer[], jsonb, integer) IS
    'The best fragments of a published corpus by BM25 among those the session may see. GIN needs an operator that is not leakproof, so that the search runs as the owner, under the policy of readers.';

CREATE FUNCTION serving.evaluated_lexical_candidates(
    of_corpus text, query_terms integer[], filters jsonb DEFAULT '{}', most integer DEFAULT 10)
RETURNS TABLE (fragment_id text, bm25 double precision)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
    SELECT c.fragment_id, c.bm25
    FROM corpus.generations g,
         corpus.lexical_candidates('evaluated_rows', g.serving_table, g.corpus, g.generation, query_terms, filters, most) c
    WHERE g.corpus = of_corpus AND g.analyser IS NOT NULL
      AND g.generation = (serving.evaluated_generations(NULL) ->> of_corpus)::integer
$$;
COMMENT ON FUNCTION serving.evaluated_lexical_candidates(text, integer[], jsonb, integer) IS
    'As lexical_candidates, of the generation that an evaluator names in corpus.evaluate_generation.';

REVOKE EXECUTE ON FUNCTION corpus.lexical_candidates(name, text, text, integer, integer[], jsonb, integer) FROM PUBLIC;
REVOKE EXECUTE ON FUNCTION serving.lexical_candidates(text, integer[], jsonb, integer),
    serving.evaluated_lexical_candidates(text, integer[], jsonb, integer),
    serving.passes_filters(jsonb, text, text, text, text, text, text, text[], text, jsonb) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION serving.lexical_candidates(text, integer[], jsonb, integer),
    serving.passes_filters(jsonb, text, text, text, text, text, text, text[], text, jsonb) TO corpus_reader, corpus_evaluator;
GRANT EXECUTE ON FUNCTION serving.evaluated_lexical_candidates(text, integer[], jsonb, integer) TO corpus_evaluator;

-- Digests of rows, computed where the rows are; index/rows.py says what they cover, and a test holds the two equal.
-- A head is the beginning of a JSON array without its end: what all rows of a document share.
CREATE FUNCTION corpus.fragment_digest(head text, fragment corpus.fragments) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN encode(sha256(convert_to(
    head || ',' || to_json((fragment).fragment_id) || ',' || to_json((fragment).parent_id) || ','
    || (fragment).ordinal || ',' || array_to_json((fragment).section_path) || ','
    || coalesce((fragment).page_number::text, 'null') || ',' || (fragment).char_start || ','
    || (fragment).char_end || ',' || (fragment).token_count || ',' || to_json((fragment).text_sha256) || ','
    || to_json((fragment).embedded_sha256) || ']', 'UTF8')), 'hex');

CREATE FUNCTION corpus.parent_digest(head text, parent corpus.parents) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN encode(sha256(convert_to(
    head || ',' || to_json((parent).parent_id) || ',' || array_to_json((parent).section_path) || ','
    || coalesce((parent).page_number::text, 'null') || ',' || (parent).char_start || ',' || (parent).char_end || ','
    || (parent).token_count || ',' || to_json((parent).text) || ',' || to_json((parent).text_sha256) || ']',
    'UTF8')), 'hex');

REVOKE EXECUTE ON FUNCTION corpus.fragment_digest(text, corpus.fragments),
    corpus.parent_digest(text, corpus.parents) FROM PUBLIC;
