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
COMMENT ON COLUMN corpus.analysed_texts.terms IS
    'Its distinct terms, ascending; then term + 62500000 k for those that occur at least 2, 3, 5, 9 times (k = 1, 2, 3, 4).';
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
    ADD COLUMN lexical_terms bigint,
    ADD COLUMN lexical_shortest integer;
COMMENT ON COLUMN corpus.generations.analyser IS
    'What words are made of in this generation; NULL for one that was staged before there was lexical ranking.';
COMMENT ON COLUMN corpus.generations.lexical_fragments IS 'Its current fragments; with lexical_terms the mean length that BM25 asks for.';
COMMENT ON COLUMN corpus.generations.lexical_shortest IS 'Terms of the shortest of them, for bounds of scores.';

ALTER TABLE serving.publications ADD COLUMN analyser jsonb;
COMMENT ON COLUMN serving.publications.analyser IS
    'What the words of a query must be made of; NULL while the corpus is served without lexical ranking.';
GRANT SELECT (analyser) ON serving.publications TO corpus_reader, corpus_evaluator;

-- Apart from what follows: PostgreSQL replaces no call of a function that has a query in it.
CREATE FUNCTION serving.has_tier(plan_tiers text[], wanted text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN EXISTS (SELECT FROM unnest(plan_tiers) AS tier WHERE lower(tier) = lower(wanted));

CREATE FUNCTION serving.has_attributes(attributes jsonb, wanted jsonb) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN NOT EXISTS (SELECT FROM jsonb_each_text(wanted) AS each
                   WHERE lower(attributes ->> each.key) IS DISTINCT FROM lower(each.value));

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
        OR serving.has_tier(plan_tiers, filters ->> 'plan_tier'))
   AND (filters ->> 'customer_facing' IS DISTINCT FROM 'true' OR answer_use = 'any')
   AND (filters -> 'attributes' IS NULL
        OR serving.has_attributes(attributes, filters -> 'attributes'));
COMMENT ON FUNCTION serving.passes_filters(jsonb, text, text, text, text, text, text, text[], text, jsonb) IS
    'The one place that says what a filter means; for vectors and words alike. Keys are in lower case, those of region and environment empty where none is declared.';

CREATE FUNCTION corpus.lexical_candidates(
    rule name, of_table text, of_corpus text, of_generation integer, query_terms integer[], filters jsonb, most integer)
RETURNS TABLE (fragment_id text, bm25 double precision)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET work_mem = '64MB' SET jit = off
    SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
    k1 CONSTANT double precision := 1.5;
    b CONSTANT double precision := 0.75;
    levels CONSTANT integer := 16;
    buckets CONSTANT bigint := 62500000;
    -- Keys of a term: number k says that it occurs at least so often, and then at most so often as the next one tells.
    most_of_key CONSTANT integer[] := ARRAY[1, 2, 4, 8, 16];
    fragments double precision;
    mean_terms double precision;
    least_norm double precision;
    day CONSTANT date := serving.as_of_date();
    visible text;
    keys integer[];
    bounds double precision[];
    frequencies integer[];
    after double precision[];
    upper_bound text;
    score text;
    search text;
    up_to bigint[];
    first_keys integer;
    sample CONSTANT bigint := greatest(10 * most::bigint, 200);
    tried bigint := sample;
    threshold double precision;
BEGIN
    -- Whatever can fail for what the caller has set or given fails here, not on the first row that it is tried on:
    -- an error must not tell that a row exists.
    PERFORM serving.session_groups();
    IF jsonb_typeof(filters -> 'attributes') <> 'object' THEN
        RAISE EXCEPTION 'the filter attributes must be an object' USING ERRCODE = 'invalid_parameter_value';
    END IF;

    SELECT g.lexical_fragments, g.lexical_terms::double precision / nullif(g.lexical_fragments, 0),
           k1 * (1 - b + b * g.lexical_shortest * g.lexical_fragments / nullif(g.lexical_terms, 0)::double precision)
    INTO fragments, mean_terms, least_norm
    FROM corpus.generations g
    WHERE g.corpus = of_corpus AND g.generation = of_generation;

    -- Each key with the most that it can add to a score, and the vectors of the query: one for each number of
    -- occurrences, whose inner product is the weight of the terms that occur so many times, and one for the bound.
    WITH weighed AS (
        SELECT s.term, count(*) * ln(1 + (fragments - s.fragment_count + 0.5) / (s.fragment_count + 0.5)) AS weight
        FROM unnest(query_terms) AS given (term)
        JOIN corpus.term_statistics s ON s.corpus = of_corpus AND s.term = given.term
             AND s.generation_from <= of_generation AND (s.generation_to IS NULL OR s.generation_to > of_generation)
        GROUP BY s.term, s.fragment_count
    ), known AS (
        SELECT w.term, w.weight, k.number, s.term AS key, s.fragment_count,
               w.weight * (most_of_key[k.number] / (most_of_key[k.number] + least_norm)
                           - coalesce(most_of_key[k.number - 1] / (most_of_key[k.number - 1] + least_norm), 0)) AS bound
        FROM weighed w
        CROSS JOIN generate_subscripts(most_of_key, 1) AS k (number)
        JOIN corpus.term_statistics s ON s.corpus = of_corpus AND s.term = w.term + (k.number - 1) * buckets
             AND s.generation_from <= of_generation AND (s.generation_to IS NULL OR s.generation_to > of_generation)
    ), reached AS (
        SELECT k.term, k.weight, l.level, (levels - l.level) * buckets + k.term + 1 AS place
        FROM known k
        JOIN LATERAL generate_series(coalesce(most_of_key[k.number - 1], 0) + 1, most_of_key[k.number]) AS l (level) ON true
    ), asked AS (
        SELECT r.level, format('{%s}/%s', string_agg(format('%s:%s', r.place, r.weight), ','), levels * buckets) AS vector
        FROM reached r GROUP BY r.level
    )
    SELECT k.keys, k.bounds, k.frequencies, a.score, u.vector
    INTO keys, bounds, frequencies, score, upper_bound
    FROM (
        SELECT array_agg(o.key ORDER BY o.bound DESC, o.key) AS keys, array_agg(o.bound ORDER BY o.bound DESC, o.key) AS bounds,
               array_agg(o.fragment_count ORDER BY o.bound DESC, o.key) AS frequencies
        FROM known o
    ) k, (
        -- Few fragments have any term so often: the last of their keys tells.
        SELECT string_agg(
            format(CASE WHEN level = 1 THEN '%2$s' ELSE 'CASE WHEN f.terms[cardinality(f.terms)] >= %1$s THEN %2$s ELSE 0 END' END,
                   (SELECT min(k.number) - 1 FROM generate_subscripts(most_of_key, 1) AS k (number)
                    WHERE most_of_key[k.number] >= level) * buckets,
                   format('%s / (%s + n.norm) * (%L::public.sparsevec OPERATOR(public.<#>) f.term_levels)', -level, level, vector)),
            ' + ' ORDER BY level) AS score
        FROM asked
    ) a, (
        SELECT format('{%s}/%s', string_agg(format('%s:%s', place, weight * level / (level + least_norm)), ','),
                      levels * buckets) AS vector
        FROM reached
    ) u;
    IF keys IS NULL OR mean_terms IS NULL OR coalesce(most, 0) < 1 THEN
        RETURN;
    END IF;
    SELECT array_agg((SELECT coalesce(sum(e), 0) FROM unnest(bounds[k + 1:]) AS e) ORDER BY k) INTO after
    FROM generate_subscripts(bounds, 1) AS k;

    -- What a reader may see is what the policy of the table says, word for word.
    SELECT pg_get_expr(p.polqual, p.polrelid) INTO STRICT visible
    FROM pg_policy p
    WHERE p.polrelid = format('serving.%I', of_table)::regclass AND p.polname = rule;

    search := format(
        'SELECT f.fragment_id, %s AS bm25
         FROM serving.%I AS f, LATERAL (SELECT %L::double precision + %L::double precision * f.term_count AS norm OFFSET 0) AS n
         WHERE f.corpus = %L AND f.serving_state = ''current'' AND f.answer_use <> ''never''
           AND %%s AND (%s)
           AND (f.valid_from IS NULL OR f.valid_from <= %L)
           AND (f.valid_until IS NULL OR f.valid_until >= %L)
           AND serving.passes_filters(%L::jsonb, f.product_key, f.domain_key, f.audience_key, f.source_class_key,
                                      f.region_key, f.environment_key, f.plan_tiers, f.answer_use, f.attributes)',
        replace(score, '%', '%%'), of_table, k1 * (1 - b), k1 * b / mean_terms, of_corpus, replace(visible, '%', '%%'), day, day,
        replace(coalesce(filters, '{}')::text, '%', '%%'));

    -- MaxScore (Turtle and Flood 1995). Some fragments with the most telling keys, whichever, give a score that the
    -- last of the best has at least; the more are hidden or filtered out, the more are tried.
    SELECT array_agg((SELECT sum(f) FROM unnest(frequencies[:k]) AS f) ORDER BY k) INTO up_to
    FROM generate_subscripts(frequencies, 1) AS k;
    threshold := 0;
    WHILE threshold = 0 AND tried < up_to[cardinality(up_to)] / 2 LOOP
        SELECT coalesce(min(k), cardinality(keys)) INTO first_keys
        FROM generate_subscripts(keys, 1) AS k WHERE up_to[k] >= tried;
        EXECUTE format('SELECT bm25 FROM (%s LIMIT %s) AS sampled ORDER BY bm25 DESC OFFSET %s LIMIT 1',
                       format(search, format('f.terms && %L::integer[]', keys[:first_keys])), sample, most - 1)
        INTO threshold;
        -- Products are computed in single precision.
        threshold := coalesce(threshold * (1 - 1e-4), 0);
        tried := tried * 20;
    END LOOP;

    -- Whatever reaches it has keys that add up to as much: one that does so alone, or one with another of those after it.
    RETURN QUERY EXECUTE format(
        '%s ORDER BY bm25 DESC, f.fragment_id COLLATE "C" LIMIT %s',
        format(search, (
            SELECT format(CASE WHEN threshold > 0 THEN '(%s) AND (%L::public.sparsevec OPERATOR(public.<#>) f.term_levels) <= %s'
                               ELSE '(%s)' END,
                          string_agg(c.condition, ' OR '), upper_bound, -threshold)
            FROM (
                SELECT format('f.terms && %L::integer[]', array_agg(keys[k])) AS condition
                FROM generate_subscripts(keys, 1) AS k WHERE bounds[k] >= threshold HAVING count(*) > 0
                UNION ALL
                SELECT format('f.terms @> ARRAY[%s] AND f.terms && %L::integer[]', keys[k], array_agg(keys[l]))
                FROM generate_subscripts(keys, 1) AS k
                JOIN generate_subscripts(keys, 1) AS l ON l > k AND bounds[k] + bounds[l] + after[l] >= threshold
                WHERE bounds[k] < threshold
                GROUP BY k
            ) c)),
        most);
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
    serving.has_tier(text[], text), serving.has_attributes(jsonb, jsonb),
    serving.passes_filters(jsonb, text, text, text, text, text, text, text[], text, jsonb) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION serving.lexical_candidates(text, integer[], jsonb, integer),
    serving.has_tier(text[], text), serving.has_attributes(jsonb, jsonb),
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
