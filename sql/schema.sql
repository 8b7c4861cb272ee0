-- The whole schema after all migrations; written by `make schema`, never by hand.

CREATE SCHEMA corpus;

COMMENT ON SCHEMA corpus IS 'Working state of the pipeline; readers have no access.';

CREATE SCHEMA serving;

COMMENT ON SCHEMA serving IS 'What readers see, under row-level security.';

CREATE TYPE corpus.lexical_search AS (
	terms integer[],
	repeats real[],
	weights double precision[],
	mean_terms double precision,
	keys integer[],
	bounds double precision[],
	frequencies integer[],
	upper_bound text,
	search text
);

COMMENT ON TYPE corpus.lexical_search IS 'A question in words for one generation: its terms with their weights, their keys with the most that each can add, the most telling first, and the search among rows that are still to be named.';

CREATE TABLE corpus.posting_indexes (
    index_id integer NOT NULL,
    serving_table text NOT NULL,
    corpus text NOT NULL,
    leaf name NOT NULL,
    places integer NOT NULL,
    least_mean_terms double precision NOT NULL
);

COMMENT ON TABLE corpus.posting_indexes IS 'Posting lists of the current leaf of a corpus: of all its rows, whatever generation they are of. Without, words are searched by their keys.';

COMMENT ON COLUMN corpus.posting_indexes.leaf IS 'Table of the leaf, in schema serving; what is known of its columns tells how many rows pass a filter.';

COMMENT ON COLUMN corpus.posting_indexes.places IS 'Places given to fragments so far, those of removed ones and unused ones at the end of a block included.';

COMMENT ON COLUMN corpus.posting_indexes.least_mean_terms IS 'The least mean length of a fragment that impacts were made with.';

CREATE FUNCTION corpus.candidates_by_impact(prepared corpus.lexical_search, postings corpus.posting_indexes, most integer, OUT is_complete boolean, OUT fragment_ids text[], OUT scores double precision[]) RETURNS record
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET work_mem TO '64MB'
    SET jit TO 'off'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET enable_sort TO 'off'
    AS $_$
DECLARE
    size CONSTANT integer := 1000;
    most_looked_at CONSTANT integer := 5000;
    most_left_out CONSTANT double precision := 0.015;
    wanted double precision;
    blocks integer[];
    totals public.vector[];
    growth double precision;
    slack double precision;
    margin double precision;
    left_out double precision;
    sampled public.vector[];
    sampled_share double precision;
    highest double precision;
    middle double precision;
    above double precision;
    below double precision;
    marked bigint;
    rank bigint;
    threshold double precision;
    bar public.vector;
    marks varbit[];
    places integer[];
BEGIN
    is_complete := false;
    -- How much more a score may be than the sum of impacts, which are as old as their block: by the largest ratio of
    -- weights or by all their differences, whichever is less, and by the ratio of mean lengths.
    margin := greatest(1, prepared.mean_terms / postings.least_mean_terms) * (1 + 1e-4);
    highest := (SELECT sum(q.repeats * q.weight) FROM unnest(prepared.repeats, prepared.weights) AS q (repeats, weight));
    -- Words that nearly every fragment has weigh next to nothing and have the longest lists. They are not added up; that
    -- all of them together may add left_out to a score is made up for by looking at more rows.
    SELECT coalesce(max(w.so_far), 0) INTO left_out
    FROM (SELECT sum(q.repeats * q.weight) OVER (ORDER BY q.repeats * q.weight, q.term) AS so_far
          FROM unnest(prepared.terms, prepared.repeats, prepared.weights) AS q (term, repeats, weight)) AS w
    WHERE w.so_far <= highest * most_left_out;
    LOOP
        SELECT array_agg(t.block), array_agg(t.total), max(t.growth), max(t.slack) INTO blocks, totals, growth, slack
        FROM (
            SELECT p.block, max(q.weight / p.weight) AS growth, sum(q.times * greatest(q.weight - p.weight, 0)) AS slack,
                   corpus.total(CASE WHEN q.repeats IS NULL THEN p.impacts::public.vector
                                ELSE p.impacts::public.vector OPERATOR(public.*) q.repeats END) AS total
            FROM (SELECT u.term, u.weight, u.repeats AS times,
                         CASE WHEN u.repeats > 1 THEN array_fill(u.repeats, ARRAY[size])::public.vector END AS repeats,
                         sum(u.repeats * u.weight) OVER (ORDER BY u.repeats * u.weight, u.term) AS so_far
                  FROM unnest(prepared.terms, prepared.repeats, prepared.weights) AS u (term, repeats, weight) OFFSET 0) q
            JOIN corpus.posting_blocks p ON p.index_id = postings.index_id AND p.term = q.term
            WHERE q.so_far > left_out
            GROUP BY p.block
        ) t;
        IF totals IS NULL AND left_out = 0 THEN
            is_complete := true;
            RETURN;
        END IF;
        SELECT array_agg(t.total), count(*)::double precision / cardinality(totals) INTO sampled, sampled_share
        FROM unnest(totals) WITH ORDINALITY AS t (total, number)
        WHERE t.number % greatest(cardinality(totals) / greatest(20, cardinality(totals) / 20), 1) = 0;

        wanted := greatest(2.0 * most, most + 30.0);
        WHILE totals IS NOT NULL LOOP
            -- A threshold that as many of the sample exceed as are its share of what is wanted.
            rank := ceil(wanted * sampled_share);
            threshold := 0;
            above := highest;
            FOR step IN 1..16 LOOP
                middle := (threshold + above) / 2;
                bar := array_fill(middle::real, ARRAY[size])::public.vector;
                SELECT sum(bit_count(public.binary_quantize(s OPERATOR(public.-) bar))) INTO marked FROM unnest(sampled) AS s;
                IF marked < rank THEN
                    above := middle;
                ELSE
                    threshold := middle;
                    EXIT WHEN marked <= rank * 1.25;
                END IF;
            END LOOP;
            -- The sample is small: corrected until about as many of all exceed it. A 1 in the bits of a block marks a place.
            below := 0;
            above := highest;
            FOR step IN 1..8 LOOP
                bar := array_fill(threshold::real, ARRAY[size])::public.vector;
                SELECT array_agg(b.bits), sum(bit_count(b.bits)) INTO marks, marked
                FROM (SELECT public.binary_quantize(t OPERATOR(public.-) bar) AS bits FROM unnest(totals) AS t OFFSET 0) b;
                -- The last of the thresholds is the one that the marks are of.
                EXIT WHEN step = 8 OR marked BETWEEN wanted * 0.9 AND 2 * wanted + 20 OR (threshold = 0 AND marked < wanted);
                IF marked > wanted THEN
                    below := threshold;
                    threshold := least((threshold + above) / 2, greatest(threshold * 1.1, above * 0.05));
                ELSE
                    above := threshold;
                    threshold := CASE WHEN step < 4 THEN greatest((below + threshold) / 2, threshold * 0.9)
                                      ELSE (below + threshold) / 2 END;
                END IF;
            END LOOP;
            EXIT WHEN marked > most_looked_at;
            SELECT array_agg(b.block * size + p.at) INTO places
            FROM (SELECT m.block, m.bits, bit_count(m.bits) AS ones FROM unnest(blocks, marks) AS m (block, bits) OFFSET 0) b,
                 LATERAL (
                    SELECT position(B'1' IN b.bits) - 1 AS at WHERE b.ones = 1
                    UNION ALL
                    -- The zeros before each 1 tell where it is.
                    SELECT (r.zeros + r.number - 1)::integer
                    FROM (SELECT u.number, sum(length(u.zeros)) OVER (ORDER BY u.number) AS zeros
                          FROM unnest(string_to_array(b.bits::text, '1')) WITH ORDINALITY AS u (zeros, number)
                          WHERE b.ones > 1) r
                    WHERE r.number <= b.ones
                 ) p
            WHERE b.ones > 0;

            -- One row by its key for each place, whatever other index its filters have.
            EXECUTE format(
                'SELECT array_agg(best.fragment_id), array_agg(best.bm25)
                 FROM (SELECT row.*
                       FROM corpus.posting_places AS p,
                            LATERAL (%s OFFSET 0) AS row
                       WHERE p.index_id = $1 AND p.place = ANY ($2)
                       ORDER BY row.bm25 DESC, row.fragment_id COLLATE "C" LIMIT %s) AS best',
                format(prepared.search, 'f.fragment_id = p.fragment_id AND f.generation_from = p.generation_from'), most)
            INTO fragment_ids, scores USING postings.index_id, places;
            is_complete := (threshold = 0 AND left_out = 0)
                           OR coalesce(scores[most] >= (least(threshold * growth, threshold + slack) + left_out) * margin, false);
            EXIT WHEN is_complete;
            -- Fewer fragments than wanted have the words that were added up.
            EXIT WHEN threshold = 0;
            -- The more are hidden or filtered out, the more are looked at.
            wanted := wanted * greatest(2, 2.0 * most / greatest(coalesce(cardinality(fragment_ids), 0), 0.5));
            EXIT WHEN wanted > most_looked_at;
        END LOOP;
        EXIT WHEN is_complete OR left_out = 0;
        -- With few rows in sight it is not for the words that were left out.
        EXIT WHEN threshold > 0 AND coalesce(cardinality(fragment_ids), 0) < most;
        -- Once more with all words.
        left_out := 0;
    END LOOP;
END
$_$;

COMMENT ON FUNCTION corpus.candidates_by_impact(prepared corpus.lexical_search, postings corpus.posting_indexes, most integer, OUT is_complete boolean, OUT fragment_ids text[], OUT scores double precision[]) IS 'The best fragments of a prepared search, exactly, from posting lists; incomplete where too many rows would have to be looked at for those that the caller may see.';

CREATE FUNCTION corpus.candidates_by_key(prepared corpus.lexical_search, most integer) RETURNS TABLE(fragment_id text, bm25 double precision)
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET work_mem TO '64MB'
    SET jit TO 'off'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
DECLARE
    after double precision[];
    up_to bigint[];
    first_keys integer;
    sample CONSTANT bigint := greatest(10 * most::bigint, 200);
    tried bigint := sample;
    threshold double precision;
BEGIN
    SELECT array_agg((SELECT coalesce(sum(e), 0) FROM unnest(prepared.bounds[k + 1:]) AS e) ORDER BY k) INTO after
    FROM generate_subscripts(prepared.bounds, 1) AS k;

    -- MaxScore (Turtle and Flood 1995). Some fragments with the most telling keys, whichever, give a score that the
    -- last of the best has at least; the more are hidden or filtered out, the more are tried.
    SELECT array_agg((SELECT sum(f) FROM unnest(prepared.frequencies[:k]) AS f) ORDER BY k) INTO up_to
    FROM generate_subscripts(prepared.frequencies, 1) AS k;
    threshold := 0;
    WHILE threshold = 0 AND tried < up_to[cardinality(up_to)] / 2 LOOP
        SELECT coalesce(min(k), cardinality(prepared.keys)) INTO first_keys
        FROM generate_subscripts(prepared.keys, 1) AS k WHERE up_to[k] >= tried;
        EXECUTE format('SELECT bm25 FROM (%s LIMIT %s) AS sampled ORDER BY bm25 DESC OFFSET %s LIMIT 1',
                       format(prepared.search, format('f.terms && %L::integer[]', prepared.keys[:first_keys])), sample, most - 1)
        INTO threshold;
        -- Products are computed in single precision.
        threshold := coalesce(threshold * (1 - 1e-4), 0);
        tried := tried * 20;
    END LOOP;

    -- Whatever reaches it has keys that add up to as much: one that does so alone, or one with another of those after it.
    RETURN QUERY EXECUTE format(
        '%s ORDER BY bm25 DESC, f.fragment_id COLLATE "C" LIMIT %s',
        format(prepared.search, (
            SELECT format(CASE WHEN threshold > 0 THEN '(%s) AND (%L::public.sparsevec OPERATOR(public.<#>) f.term_levels) <= %s'
                               ELSE '(%s)' END,
                          string_agg(c.condition, ' OR '), prepared.upper_bound, -threshold)
            FROM (
                SELECT format('f.terms && %L::integer[]', array_agg(prepared.keys[k])) AS condition
                FROM generate_subscripts(prepared.keys, 1) AS k WHERE prepared.bounds[k] >= threshold HAVING count(*) > 0
                UNION ALL
                SELECT format('f.terms @> ARRAY[%s] AND f.terms && %L::integer[]', prepared.keys[k], array_agg(prepared.keys[l]))
                FROM generate_subscripts(prepared.keys, 1) AS k
                JOIN generate_subscripts(prepared.keys, 1) AS l ON l > k AND prepared.bounds[k] + prepared.bounds[l] + after[l] >= threshold
                WHERE prepared.bounds[k] < threshold
                GROUP BY k
            ) c)),
        most);
END
$$;

COMMENT ON FUNCTION corpus.candidates_by_key(prepared corpus.lexical_search, most integer) IS 'The best fragments of a prepared search, exactly, from the index of keys: for few rows in sight, or a leaf without posting lists.';

CREATE TABLE corpus.fragments (
    fragment_id text NOT NULL,
    parent_id text NOT NULL,
    corpus text NOT NULL,
    document_id text NOT NULL,
    ordinal integer NOT NULL,
    text text NOT NULL,
    text_sha256 text NOT NULL,
    embedded_text text NOT NULL,
    embedded_sha256 text NOT NULL,
    token_count integer NOT NULL,
    section_path text[] NOT NULL,
    page_number integer,
    char_start integer NOT NULL,
    char_end integer NOT NULL
);

COMMENT ON TABLE corpus.fragments IS 'What is matched; token_count is of embedded_text by the embedding model''s own tokenizer.';

CREATE FUNCTION corpus.fragment_digest(head text, fragment corpus.fragments) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN encode(sha256(convert_to((((((((((((((((((((((head || ','::text) || to_json((fragment).fragment_id)) || ','::text) || to_json((fragment).parent_id)) || ','::text) || (fragment).ordinal) || ','::text) || array_to_json((fragment).section_path)) || ','::text) || COALESCE(((fragment).page_number)::text, 'null'::text)) || ','::text) || (fragment).char_start) || ','::text) || (fragment).char_end) || ','::text) || (fragment).token_count) || ','::text) || to_json((fragment).text_sha256)) || ','::text) || to_json((fragment).embedded_sha256)) || ']'::text), 'UTF8'::name)), 'hex'::text);

CREATE FUNCTION corpus.lexical_candidates(rule name, of_table text, of_corpus text, of_generation integer, query_terms integer[], filters jsonb, most integer) RETURNS TABLE(fragment_id text, bm25 double precision)
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    prepared CONSTANT corpus.lexical_search :=
        corpus.prepared_lexical_search(rule, of_table, of_corpus, of_generation, query_terms, filters);
    postings corpus.posting_indexes%ROWTYPE;
    best record;
BEGIN
    IF prepared.search IS NULL OR coalesce(most, 0) < 1 THEN
        RETURN;
    END IF;
    SELECT * INTO postings FROM corpus.posting_indexes i WHERE i.serving_table = of_table AND i.corpus = of_corpus;
    -- Where a filter leaves few rows, its index finds them sooner.
    IF FOUND AND (coalesce(filters, '{}') = '{}' OR corpus.share_passing(postings.leaf, filters) >= 0.02) THEN
        best := corpus.candidates_by_impact(prepared, postings, most);
        IF best.is_complete THEN
            RETURN QUERY SELECT * FROM unnest(best.fragment_ids, best.scores);
            RETURN;
        END IF;
    END IF;
    RETURN QUERY SELECT * FROM corpus.candidates_by_key(prepared, most);
END
$$;

COMMENT ON FUNCTION corpus.lexical_candidates(rule name, of_table text, of_corpus text, of_generation integer, query_terms integer[], filters jsonb, most integer) IS 'The best fragments by BM25 among the rows that the named policy of the table shows; ties in order of fragment id.';

CREATE TABLE corpus.fragment_marks (
    fragment_id text NOT NULL,
    corpus text NOT NULL,
    copy_of text,
    also_in jsonb NOT NULL,
    is_boilerplate boolean NOT NULL,
    CONSTRAINT fragment_marks_check CHECK ((copy_of IS DISTINCT FROM fragment_id)),
    CONSTRAINT fragment_marks_check1 CHECK (((copy_of IS NULL) OR (also_in = '[]'::jsonb)))
);

COMMENT ON TABLE corpus.fragment_marks IS 'One row a fragment that is a copy, has copies or is boilerplate; a function of fragments, metadata and decisions, made anew with them.';

COMMENT ON COLUMN corpus.fragment_marks.copy_of IS 'The first fragment with the same embedded text, serving state, exclusion and metadata, access groups among it.';

COMMENT ON COLUMN corpus.fragment_marks.also_in IS 'Of a first fragment: where else it stands, in order of document and place.';

COMMENT ON COLUMN corpus.fragment_marks.is_boilerplate IS 'The same text, white space and case aside, is current in many version families of the corpus.';

CREATE FUNCTION corpus.marked_digest(digest text, mark corpus.fragment_marks) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN CASE WHEN ((mark).fragment_id IS NULL) THEN digest ELSE encode(sha256(convert_to(((((digest || ','::text) || (mark).also_in) || ','::text) || (mark).is_boilerplate), 'UTF8'::name)), 'hex'::text) END;

COMMENT ON FUNCTION corpus.marked_digest(digest text, mark corpus.fragment_marks) IS 'Digest of a fragment''s serving row: as it was for fragments like no other, else with its other sources and its mark.';

CREATE TABLE corpus.parents (
    parent_id text NOT NULL,
    corpus text NOT NULL,
    document_id text NOT NULL,
    ordinal integer NOT NULL,
    section_path text[] NOT NULL,
    text text NOT NULL,
    text_sha256 text NOT NULL,
    token_count integer NOT NULL,
    char_start integer NOT NULL,
    char_end integer NOT NULL,
    page_number integer
);

COMMENT ON TABLE corpus.parents IS 'Sections that can be read alone; they tile the converted text.';

CREATE FUNCTION corpus.parent_digest(head text, parent corpus.parents) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN encode(sha256(convert_to((((((((((((((((((head || ','::text) || to_json((parent).parent_id)) || ','::text) || array_to_json((parent).section_path)) || ','::text) || COALESCE(((parent).page_number)::text, 'null'::text)) || ','::text) || (parent).char_start) || ','::text) || (parent).char_end) || ','::text) || (parent).token_count) || ','::text) || to_json((parent).text)) || ','::text) || to_json((parent).text_sha256)) || ']'::text), 'UTF8'::name)), 'hex'::text);

CREATE FUNCTION corpus.prepared_lexical_search(rule name, of_table text, of_corpus text, of_generation integer, query_terms integer[], filters jsonb) RETURNS corpus.lexical_search
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET jit TO 'off'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
DECLARE
    k1 CONSTANT double precision := 1.5;
    b CONSTANT double precision := 0.75;
    levels CONSTANT integer := 16;
    buckets CONSTANT bigint := 62500000;
    -- Keys of a term: number k says that it occurs at least so often, and then at most so often as the next one tells.
    most_of_key CONSTANT integer[] := ARRAY[1, 2, 4, 8, 16];
    fragments double precision;
    least_norm double precision;
    day CONSTANT date := serving.as_of_date();
    visible text;
    leaf CONSTANT name := coalesce(
        (SELECT i.leaf FROM corpus.posting_indexes i WHERE i.serving_table = of_table AND i.corpus = of_corpus), of_table);
    score text;
    prepared corpus.lexical_search;
BEGIN
    -- Whatever can fail for what the caller has set or given fails here, not on the first row that it is tried on:
    -- an error must not tell that a row exists.
    PERFORM serving.session_groups();
    IF jsonb_typeof(filters -> 'attributes') <> 'object' THEN
        RAISE EXCEPTION 'the filter attributes must be an object' USING ERRCODE = 'invalid_parameter_value';
    END IF;

    SELECT g.lexical_fragments, g.lexical_terms::double precision / nullif(g.lexical_fragments, 0),
           k1 * (1 - b + b * g.lexical_shortest * g.lexical_fragments / nullif(g.lexical_terms, 0)::double precision)
    INTO fragments, prepared.mean_terms, least_norm
    FROM corpus.generations g
    WHERE g.corpus = of_corpus AND g.generation = of_generation;

    -- Each key with the most that it can add to a score, and the vectors of the query: one for each number of
    -- occurrences, whose inner product is the weight of the terms that occur so many times, and one for the bound.
    WITH weighed AS (
        SELECT s.term, count(*) AS repeats, ln(1 + (fragments - s.fragment_count + 0.5) / (s.fragment_count + 0.5)) AS weight
        FROM unnest(query_terms) AS given (term)
        -- Other keys are no terms: whether one is known must not tell that a hidden row repeats a word.
        JOIN corpus.term_statistics s ON s.corpus = of_corpus AND s.term = given.term AND given.term BETWEEN 0 AND buckets - 1
             AND s.generation_from <= of_generation AND (s.generation_to IS NULL OR s.generation_to > of_generation)
        GROUP BY s.term, s.fragment_count
    ), known AS (
        SELECT w.term, w.repeats * w.weight AS weight, k.number, s.term AS key, s.fragment_count,
               w.repeats * w.weight * (most_of_key[k.number] / (most_of_key[k.number] + least_norm)
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
    SELECT t.terms, t.repeats, t.weights, k.keys, k.bounds, k.frequencies, a.score, u.vector
    INTO prepared.terms, prepared.repeats, prepared.weights, prepared.keys, prepared.bounds, prepared.frequencies, score,
         prepared.upper_bound
    FROM (
        SELECT array_agg(w.term) AS terms, array_agg(w.repeats::real) AS repeats, array_agg(w.weight) AS weights FROM weighed w
    ) t, (
        SELECT array_agg(o.key ORDER BY o.bound DESC, o.key) AS keys, array_agg(o.bound ORDER BY o.bound DESC, o.key) AS bounds,
               array_agg(o.fragment_count ORDER BY o.bound DESC, o.key) AS frequencies
        FROM known o
    ) k, (
        -- Few fragments have any term so often: the last of their keys tells.
        SELECT string_agg(CASE WHEN step.key = 0 THEN step.score
                               ELSE format('CASE WHEN n.last_key >= %s THEN %s', step.key * buckets, step.score) END,
                          ' + ' ORDER BY step.key)
               || repeat(' ELSE 0 END', (count(*) FILTER (WHERE step.key > 0))::integer) AS score
        FROM (
            SELECT k.key, string_agg(format('%s / (%s + n.norm) * (%L::public.sparsevec OPERATOR(public.<#>) f.term_levels)',
                                            -level, level, vector), ' + ' ORDER BY level) AS score
            FROM asked, LATERAL (SELECT min(k.number) - 1 AS key FROM generate_subscripts(most_of_key, 1) AS k (number)
                                 WHERE most_of_key[k.number] >= level) AS k
            GROUP BY k.key
        ) AS step
    ) a, (
        SELECT format('{%s}/%s', string_agg(format('%s:%s', place, weight * level / (level + least_norm)), ','),
                      levels * buckets) AS vector
        FROM reached
    ) u;
    IF prepared.keys IS NULL OR prepared.mean_terms IS NULL THEN
        RETURN prepared;
    END IF;

    -- What a reader may see is what the policy of the table says, word for word.
    SELECT pg_get_expr(p.polqual, p.polrelid) INTO STRICT visible
    FROM pg_policy p
    WHERE p.polrelid = format('serving.%I', of_table)::regclass AND p.polname = rule;

    prepared.search := format(
        'SELECT f.fragment_id, %s AS bm25
         FROM serving.%I AS f, LATERAL (SELECT %L::double precision + %L::double precision * f.term_count AS norm, f.terms[cardinality(f.terms)] AS last_key OFFSET 0) AS n
         WHERE f.corpus = %L AND f.serving_state = ''current'' AND f.answer_use <> ''never''
           AND %%s AND (%s)
           AND (f.valid_from IS NULL OR f.valid_from <= %L)
           AND (f.valid_until IS NULL OR f.valid_until >= %L)',
        replace(score, '%', '%%'), leaf, k1 * (1 - b), k1 * b / prepared.mean_terms, of_corpus, replace(visible, '%', '%%'), day, day);
    IF filters <> '{}' THEN
        prepared.search := prepared.search || format(
            ' AND serving.passes_filters(%L::jsonb, f.product_key, f.domain_key, f.audience_key, f.source_class_key,
                                         f.region_key, f.environment_key, f.plan_tiers, f.answer_use, f.attributes)',
            replace(filters::text, '%', '%%'));
    END IF;
    RETURN prepared;
END
$$;

COMMENT ON FUNCTION corpus.prepared_lexical_search(rule name, of_table text, of_corpus text, of_generation integer, query_terms integer[], filters jsonb) IS 'Weights and bounds of a question, and the text of its search: exact BM25 of the rows that the named policy of the table shows. Without a search, no fragment has any of its words.';

CREATE FUNCTION corpus.protect_serving_table(table_name text, of_table text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
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
$_$;

COMMENT ON FUNCTION corpus.protect_serving_table(table_name text, of_table text) IS 'The one place that says which rows of a serving table readers and evaluators see. of_table NULL: the table serves all fingerprints.';

CREATE FUNCTION corpus.refuse_change() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    RAISE EXCEPTION 'rows of % are never changed', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END
$$;

COMMENT ON FUNCTION corpus.refuse_change() IS 'Trigger of tables whose rows are immutable.';

CREATE FUNCTION corpus.share_passing(leaf name, filters jsonb) RETURNS double precision
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT coalesce(min(least(shares.share, 1)), 1)
    FROM (
        SELECT sum(s.most_common_freqs[array_position(s.most_common_vals::text::text[], passing.value)])
                   FILTER (WHERE passing.value = ANY (s.most_common_vals::text::text[])) AS frequent,
               count(s.attname) AS known
        FROM jsonb_each_text(CASE WHEN jsonb_typeof(filters) = 'object' THEN filters END) AS given
        CROSS JOIN LATERAL unnest(CASE WHEN given.key IN ('region', 'environment') THEN ARRAY['', lower(given.value)]
                                       ELSE ARRAY[lower(given.value)] END) AS passing (value)
        JOIN pg_stats s ON s.schemaname = 'serving' AND s.tablename = leaf AND s.attname = given.key || '_key'
        GROUP BY given.key
    ) AS found, LATERAL (SELECT CASE WHEN found.known > 0 THEN coalesce(found.frequent, 0) END AS share) AS shares
$$;

COMMENT ON FUNCTION corpus.share_passing(leaf name, filters jsonb) IS 'About which share of the rows of a leaf the most selective of the filters with an index leaves, as far as the statistics of its columns tell; 1 where they do not.';

CREATE FUNCTION serving.archived_shown() RETURNS boolean
    LANGUAGE sql STABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT coalesce(current_setting('corpus.show_archived', true), '') IN ('on', 'true', '1')
$$;

COMMENT ON FUNCTION serving.archived_shown() IS 'Whether the session asked, in corpus.show_archived, for what is kept out of answers; permissions and generation still hold.';

CREATE FUNCTION serving.as_of_date() RETURNS date
    LANGUAGE sql STABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT coalesce(nullif(current_setting('corpus.as_of', true), '')::date, (now() AT TIME ZONE 'UTC')::date)
$$;

COMMENT ON FUNCTION serving.as_of_date() IS 'The day validity is checked for: corpus.as_of, or today in UTC.';

CREATE FUNCTION serving.evaluated_generations(of_table text) RETURNS jsonb
    LANGUAGE sql STABLE SECURITY DEFINER PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
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

COMMENT ON FUNCTION serving.evaluated_generations(of_table text) IS 'As published_generations, with the generation named in corpus.evaluate_generation (corpus:generation) in its place.';

CREATE FUNCTION serving.evaluated_lexical_candidates(of_corpus text, query_terms integer[], filters jsonb DEFAULT '{}'::jsonb, most integer DEFAULT 10) RETURNS TABLE(fragment_id text, bm25 double precision)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT c.fragment_id, c.bm25
    FROM corpus.generations g,
         corpus.lexical_candidates('evaluated_rows', g.serving_table, g.corpus, g.generation, query_terms, filters, most) c
    WHERE g.corpus = of_corpus AND g.analyser IS NOT NULL
      AND g.generation = (serving.evaluated_generations(NULL) ->> of_corpus)::integer
$$;

COMMENT ON FUNCTION serving.evaluated_lexical_candidates(of_corpus text, query_terms integer[], filters jsonb, most integer) IS 'As lexical_candidates, of the generation that an evaluator names in corpus.evaluate_generation.';

CREATE FUNCTION serving.has_attributes(attributes jsonb, wanted jsonb) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN (NOT (EXISTS (SELECT FROM jsonb_each_text(has_attributes.wanted) each(key, value) WHERE (lower((has_attributes.attributes ->> each.key)) IS DISTINCT FROM lower(each.value)))));

CREATE FUNCTION serving.has_tier(plan_tiers text[], wanted text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN (EXISTS (SELECT FROM unnest(has_tier.plan_tiers) tier(tier) WHERE (lower(tier.tier) = lower(has_tier.wanted))));

CREATE FUNCTION serving.lexical_candidates(of_corpus text, query_terms integer[], filters jsonb DEFAULT '{}'::jsonb, most integer DEFAULT 10) RETURNS TABLE(fragment_id text, bm25 double precision)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT c.fragment_id, c.bm25
    FROM serving.publications p,
         corpus.lexical_candidates('published_rows', p.serving_table, p.corpus, p.generation, query_terms, filters, most) c
    WHERE p.corpus = of_corpus AND p.analyser IS NOT NULL
$$;

COMMENT ON FUNCTION serving.lexical_candidates(of_corpus text, query_terms integer[], filters jsonb, most integer) IS 'The best fragments of a published corpus by BM25 among those the session may see. GIN needs an operator that is not leakproof, so that the search runs as the owner, under the policy of readers.';

CREATE FUNCTION serving.passes_filters(filters jsonb, product_key text, domain_key text, audience_key text, source_class_key text, region_key text, environment_key text, plan_tiers text[], answer_use text, attributes jsonb) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ((((filters ->> 'product'::text) IS NULL) OR (product_key = lower((filters ->> 'product'::text)))) AND (((filters ->> 'domain'::text) IS NULL) OR (domain_key = lower((filters ->> 'domain'::text)))) AND (((filters ->> 'audience'::text) IS NULL) OR (audience_key = lower((filters ->> 'audience'::text)))) AND (((filters ->> 'source_class'::text) IS NULL) OR (source_class_key = lower((filters ->> 'source_class'::text)))) AND (((filters ->> 'region'::text) IS NULL) OR (region_key = ANY (ARRAY[''::text, lower((filters ->> 'region'::text))]))) AND (((filters ->> 'environment'::text) IS NULL) OR (environment_key = ANY (ARRAY[''::text, lower((filters ->> 'environment'::text))]))) AND (((filters ->> 'plan_tier'::text) IS NULL) OR (cardinality(plan_tiers) = 0) OR serving.has_tier(plan_tiers, (filters ->> 'plan_tier'::text))) AND (((filters ->> 'customer_facing'::text) IS DISTINCT FROM 'true'::text) OR (answer_use = 'any'::text)) AND (((filters -> 'attributes'::text) IS NULL) OR serving.has_attributes(attributes, (filters -> 'attributes'::text))));

COMMENT ON FUNCTION serving.passes_filters(filters jsonb, product_key text, domain_key text, audience_key text, source_class_key text, region_key text, environment_key text, plan_tiers text[], answer_use text, attributes jsonb) IS 'The one place that says what a filter means; for vectors and words alike. Keys are in lower case, those of region and environment empty where none is declared.';

CREATE FUNCTION serving.published_generations(of_table text) RETURNS jsonb
    LANGUAGE sql STABLE SECURITY DEFINER PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    SELECT coalesce(jsonb_object_agg(p.corpus, p.generation), '{}'::jsonb)
    FROM serving.publications p
    WHERE of_table IS NULL OR p.serving_table = of_table
$$;

COMMENT ON FUNCTION serving.published_generations(of_table text) IS 'Published generation by corpus, of those served from that table (NULL: from any).';

CREATE FUNCTION serving.session_groups() RETURNS text[]
    LANGUAGE plpgsql STABLE SECURITY DEFINER PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
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

COMMENT ON FUNCTION serving.session_groups() IS 'Access groups of this session: those mapped to its login; for the pipeline and mapped applications those in corpus.groups; else none.';

CREATE AGGREGATE corpus.total(public.vector) (
    SFUNC = public.vector_add,
    STYPE = public.vector,
    PARALLEL = safe
);

COMMENT ON AGGREGATE corpus.total(public.vector) IS 'Sum in single precision: an eighth of the time of the one of double precision.';

CREATE TABLE corpus.analysed_texts (
    analyser text NOT NULL,
    embedded_sha256 text NOT NULL,
    term_count integer NOT NULL,
    terms integer[] NOT NULL,
    term_levels public.sparsevec(1000000000) NOT NULL
);

COMMENT ON TABLE corpus.analysed_texts IS 'Terms of each text, once for each analyser, shared by all corpora and generations: a cache. No word is kept, only its number.';

COMMENT ON COLUMN corpus.analysed_texts.terms IS 'Its distinct terms, ascending; then term + 62500000 k for those that occur at least 2, 3, 5, 9 times (k = 1, 2, 3, 4).';

COMMENT ON COLUMN corpus.analysed_texts.term_levels IS 'A 1 at (16 - n) * 62500000 + term for each term that occurs n times (16 stands for more): the frequent ones first.';

CREATE TABLE corpus.chunked_documents (
    document_id text NOT NULL,
    corpus text NOT NULL,
    input_sha256 text NOT NULL,
    content_sha256 text NOT NULL,
    chunker_fingerprint text NOT NULL,
    parent_count integer NOT NULL,
    fragment_count integer NOT NULL,
    token_count bigint NOT NULL,
    max_token_count integer NOT NULL,
    chunked_at timestamp with time zone DEFAULT now() NOT NULL
);

COMMENT ON TABLE corpus.chunked_documents IS 'One row a document that was cut; input_sha256 covers its text, title and the chunker, content_sha256 its rows.';

CREATE TABLE corpus.compared_documents (
    corpus text NOT NULL COLLATE pg_catalog."C",
    document_id text NOT NULL COLLATE pg_catalog."C",
    text_sha256 text NOT NULL COLLATE pg_catalog."C",
    normalised_sha256 text NOT NULL COLLATE pg_catalog."C",
    signature_id bigint
);

COMMENT ON TABLE corpus.compared_documents IS 'Documents as the last run compared them; signature_id is null for copies of a smaller document_id and for texts shorter than a shingle.';

CREATE TABLE corpus.comparison_states (
    corpus text NOT NULL COLLATE pg_catalog."C",
    settings_sha256 text NOT NULL,
    boilerplate bytea NOT NULL,
    combination bytea NOT NULL
);

COMMENT ON TABLE corpus.comparison_states IS 'What the last run compared by; boilerplate lines as 64-bit hashes; a homomorphic hash over all edges and clusters.';

CREATE TABLE corpus.container_readings (
    corpus text NOT NULL,
    path text NOT NULL COLLATE pg_catalog."C",
    sha256 text NOT NULL,
    opened_with text NOT NULL,
    kind text NOT NULL,
    reason text NOT NULL,
    message text NOT NULL,
    members jsonb NOT NULL
);

COMMENT ON TABLE corpus.container_readings IS 'Cache: what a container held while its bytes and the limits were these; may be emptied at any time.';

CREATE TABLE corpus.containment_keys (
    shingle_key bigint NOT NULL,
    signature_id bigint NOT NULL
);

COMMENT ON TABLE corpus.containment_keys IS 'Index of signatures by a sample of their shingles, to find texts contained in others.';

CREATE TABLE corpus.conversion_audit_reports (
    report_id text NOT NULL,
    corpus text NOT NULL,
    html_sha256 text NOT NULL,
    converters jsonb NOT NULL,
    files jsonb NOT NULL,
    made_at timestamp with time zone DEFAULT now() NOT NULL
);

COMMENT ON TABLE corpus.conversion_audit_reports IS 'What each audit report compared; report_id is the SHA-256 of files, converters and results.';

COMMENT ON COLUMN corpus.conversion_audit_reports.converters IS 'Identity of each converter compared, by name.';

COMMENT ON COLUMN corpus.conversion_audit_reports.files IS 'One entry a file: document id, SHA-256, format, and for each converter its fingerprint and document SHA-256.';

CREATE TABLE corpus.conversion_audits (
    audit_id text NOT NULL,
    report_id text NOT NULL,
    html_sha256 text NOT NULL,
    corpus text NOT NULL,
    reviewer text NOT NULL,
    reviewed_on date NOT NULL,
    comment text NOT NULL,
    verdicts jsonb NOT NULL,
    record_sha256 text NOT NULL,
    recorded_at timestamp with time zone DEFAULT now() NOT NULL,
    recorded_by text NOT NULL
);

COMMENT ON TABLE corpus.conversion_audits IS 'Signed results of conversion audits; audit_id is the beginning of record_sha256, the hash of the signed result.';

CREATE TABLE corpus.conversion_routes (
    source_sha256 text NOT NULL COLLATE pg_catalog."C",
    policy_sha256 text NOT NULL COLLATE pg_catalog."C",
    file_format text NOT NULL,
    tried jsonb NOT NULL,
    converter_fingerprint text NOT NULL,
    options_sha256 text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    limits jsonb DEFAULT '{}'::jsonb NOT NULL
);

COMMENT ON TABLE corpus.conversion_routes IS 'Which conversion a policy led to for a content, by the options of its format; tried holds [converter, identity] in order, the last one succeeded; limits are the strictest ones kept.';

CREATE TABLE corpus.conversions (
    source_sha256 text NOT NULL COLLATE pg_catalog."C",
    converter_fingerprint text NOT NULL COLLATE pg_catalog."C",
    effective_converter text NOT NULL,
    document_sha256 text NOT NULL,
    text_sha256 text NOT NULL,
    char_count bigint NOT NULL,
    page_count integer,
    title text,
    language text,
    properties jsonb NOT NULL,
    content bytea NOT NULL,
    elapsed_seconds double precision NOT NULL,
    converted_at timestamp with time zone DEFAULT now() NOT NULL,
    measures jsonb
);
ALTER TABLE ONLY corpus.conversions ALTER COLUMN content SET STORAGE EXTERNAL;

COMMENT ON TABLE corpus.conversions IS 'Cache of structured documents, shared by all corpora; content is zlib-compressed canonical JSON.';

COMMENT ON COLUMN corpus.conversions.measures IS 'Figures for the checks; null or of an older version until the next run measures the document.';

CREATE TABLE corpus.cross_corpus_edges (
    left_corpus text NOT NULL,
    left_document_id text NOT NULL,
    right_corpus text NOT NULL,
    right_document_id text NOT NULL,
    kind text NOT NULL,
    jaccard double precision NOT NULL,
    containment double precision NOT NULL,
    CONSTRAINT cross_corpus_edges_check CHECK (((left_corpus COLLATE "C") < (right_corpus COLLATE "C")))
);

COMMENT ON TABLE corpus.cross_corpus_edges IS 'Verified pairs between corpora, for collapsing copies at query time; never used to suppress a document.';

CREATE TABLE corpus.document_signatures (
    signature_id bigint NOT NULL,
    signature_sha256 bytea NOT NULL,
    shingle_count integer NOT NULL,
    dense_keys integer NOT NULL,
    sparse_keys integer NOT NULL,
    band_keys bytea NOT NULL,
    shingle_keys bytea NOT NULL,
    shingles bytea NOT NULL
)
WITH (toast_tuple_target='4080');
ALTER TABLE ONLY corpus.document_signatures ALTER COLUMN band_keys SET STORAGE EXTERNAL;
ALTER TABLE ONLY corpus.document_signatures ALTER COLUMN shingle_keys SET STORAGE EXTERNAL;
ALTER TABLE ONLY corpus.document_signatures ALTER COLUMN shingles SET STORAGE EXTERNAL;

COMMENT ON TABLE corpus.document_signatures IS 'One row for each (text, removed lines, parameters): the keys it is found by and its sorted shingle hashes, 64-bit little-endian.';

COMMENT ON COLUMN corpus.document_signatures.signature_sha256 IS 'Of text, removed lines and parameters; also the order in which leaders of a large bucket are taken.';

ALTER TABLE corpus.document_signatures ALTER COLUMN signature_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME corpus.document_signatures_signature_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE corpus.document_version_history (
    corpus text NOT NULL,
    document_id text NOT NULL,
    decided_from date CONSTRAINT document_version_history_known_from_not_null NOT NULL,
    decided_until date,
    decision_sha256 text NOT NULL,
    decision jsonb NOT NULL,
    known_from timestamp with time zone CONSTRAINT document_version_history_known_from_not_null1 NOT NULL,
    known_until timestamp with time zone,
    CONSTRAINT document_version_history_check CHECK (((decided_until IS NULL) OR (decided_until > decided_from))),
    CONSTRAINT document_version_history_known CHECK (((known_until IS NULL) OR (known_until > known_from)))
);

COMMENT ON TABLE corpus.document_version_history IS 'Decisions that hold for the days [decided_from, decided_until), as the database knew them during [known_from, known_until); rows are added only where a decision changes.';

CREATE TABLE corpus.document_versions (
    corpus text NOT NULL,
    document_id text NOT NULL,
    family text NOT NULL,
    version text,
    lifecycle text NOT NULL,
    valid_from date,
    valid_until date,
    superseded_by text,
    current_document_id text NOT NULL,
    duplicate_of text,
    is_canonical boolean NOT NULL,
    is_current boolean NOT NULL,
    serving_state text NOT NULL,
    exclusion_reason text,
    exclusion_ref text,
    evidence text NOT NULL,
    needs_review boolean NOT NULL,
    decision_sha256 text NOT NULL,
    series_key text,
    period_label text,
    period_end date,
    is_latest boolean,
    organisation text
);

COMMENT ON COLUMN corpus.document_versions.current_document_id IS 'End of the chain of successors; the document itself when nothing replaced it.';

COMMENT ON COLUMN corpus.document_versions.series_key IS 'Series of periodic editions that the document belongs to; NULL outside of one.';

COMMENT ON COLUMN corpus.document_versions.period_label IS 'Period as metadata or the name declare it, such as 2023-Q1.';

COMMENT ON COLUMN corpus.document_versions.period_end IS 'Last day of the period, as the text states it.';

COMMENT ON COLUMN corpus.document_versions.is_latest IS 'The newest edition of its series; NULL outside of a series and where the order is open.';

COMMENT ON COLUMN corpus.document_versions.organisation IS 'Who issued the document, as metadata or its text state it.';

CREATE TABLE corpus.documents (
    corpus text NOT NULL,
    document_id text NOT NULL COLLATE pg_catalog."C",
    relative_path text NOT NULL,
    source_uri text NOT NULL,
    source_sha256 text NOT NULL,
    source_extension text NOT NULL,
    size_bytes bigint NOT NULL,
    modified_at timestamp with time zone,
    requested_converter text NOT NULL,
    effective_converter text NOT NULL,
    processor_version text NOT NULL,
    converter_fingerprint text NOT NULL,
    document_sha256 text NOT NULL,
    text_sha256 text NOT NULL,
    char_count bigint NOT NULL,
    page_count integer,
    title text,
    language text,
    metadata jsonb NOT NULL,
    metadata_provenance jsonb NOT NULL,
    properties jsonb NOT NULL
);

COMMENT ON TABLE corpus.documents IS 'The converted documents of each corpus with their merged metadata.';

CREATE TABLE corpus.duplicate_cluster_members (
    corpus text NOT NULL,
    cluster_id text NOT NULL,
    document_id text NOT NULL,
    kind text NOT NULL,
    similarity double precision NOT NULL,
    is_centre boolean NOT NULL
);

COMMENT ON TABLE corpus.duplicate_cluster_members IS 'Clusters of at least two documents; similarity is the exact Jaccard to the centre, kind that of the cluster.';

CREATE TABLE corpus.duplicate_edges (
    corpus text NOT NULL,
    left_id text NOT NULL,
    right_id text NOT NULL,
    kind text NOT NULL,
    jaccard double precision NOT NULL,
    containment double precision NOT NULL,
    contained_id text NOT NULL
);

COMMENT ON TABLE corpus.duplicate_edges IS 'Verified pairs within a corpus; equal documents are represented by the smallest document_id.';

CREATE TABLE corpus.embedding_models (
    fingerprint text NOT NULL,
    parts jsonb NOT NULL,
    dimensions integer NOT NULL,
    max_tokens integer NOT NULL,
    registered_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT embedding_models_dimensions_check CHECK ((dimensions > 0)),
    CONSTRAINT embedding_models_max_tokens_check CHECK ((max_tokens > 0))
);

COMMENT ON TABLE corpus.embedding_models IS 'What each embedding fingerprint stands for; parts are what it is the hash of.';

CREATE TABLE corpus.embeddings (
    fingerprint text NOT NULL,
    embedded_sha256 text NOT NULL,
    vector public.vector NOT NULL
);

COMMENT ON TABLE corpus.embeddings IS 'Float32 vectors of unit length; a cache: what a generation serves is named by text hash and fingerprint.';

CREATE TABLE corpus.evaluation_queries (
    corpus text NOT NULL,
    generation integer NOT NULL,
    query_id text NOT NULL,
    query text NOT NULL,
    domain text NOT NULL,
    category text NOT NULL,
    should_match boolean NOT NULL,
    passed boolean NOT NULL,
    expected text[] NOT NULL,
    accepted jsonb NOT NULL,
    forbidden_hits text[] NOT NULL,
    stale_hits text[] NOT NULL,
    misses jsonb NOT NULL,
    best_score double precision,
    reason text NOT NULL,
    ranked text[] DEFAULT '{}'::text[] NOT NULL,
    authorisation_hits text[] DEFAULT '{}'::text[] NOT NULL,
    observed jsonb DEFAULT '{}'::jsonb NOT NULL
);

COMMENT ON TABLE corpus.evaluation_queries IS 'One golden query against one generation; expected and hits are document ids.';

COMMENT ON COLUMN corpus.evaluation_queries.ranked IS 'Document ids in order of their best candidate, accepted or not, at most 50.';

CREATE TABLE corpus.evaluations (
    corpus text NOT NULL,
    generation integer NOT NULL,
    is_staged boolean NOT NULL,
    inputs_sha256 text NOT NULL,
    output_sha256 text NOT NULL,
    root_sha256 text NOT NULL,
    golden_sha256 text NOT NULL,
    as_of date NOT NULL,
    metrics jsonb NOT NULL,
    evaluated_at timestamp with time zone DEFAULT now() NOT NULL,
    search_sha256 text DEFAULT ''::text NOT NULL,
    comparison jsonb DEFAULT '{}'::jsonb NOT NULL
);

COMMENT ON TABLE corpus.evaluations IS 'Last evaluation of each generation; metrics holds overall, domains and categories.';

COMMENT ON COLUMN corpus.evaluations.search_sha256 IS 'Digest of the golden queries, the search configuration and the day; only equal ones are compared.';

COMMENT ON COLUMN corpus.evaluations.comparison IS 'Paired comparison with the generation that was published then; empty when there was none.';

CREATE TABLE corpus.evidence_packs (
    pack_id text NOT NULL,
    evidence_hash text NOT NULL,
    question text NOT NULL,
    corpora text[] NOT NULL,
    documents text[] NOT NULL,
    content jsonb NOT NULL,
    replaces text,
    created_by text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

COMMENT ON TABLE corpus.evidence_packs IS 'Evidence packs. A row is never changed; it goes only when one of its documents is purged.';

CREATE TABLE corpus.gate_verdicts (
    verdict_id bigint NOT NULL,
    corpus text NOT NULL,
    stage text NOT NULL,
    output_sha256 text NOT NULL,
    thresholds_sha256 text NOT NULL,
    passed boolean NOT NULL,
    failures jsonb NOT NULL,
    evaluated_expectations integer NOT NULL,
    run_id text NOT NULL,
    evaluated_at timestamp with time zone DEFAULT now() NOT NULL
);

COMMENT ON TABLE corpus.gate_verdicts IS 'What a suite said of one stage output; publication reads the newest for the output it publishes.';

ALTER TABLE corpus.gate_verdicts ALTER COLUMN verdict_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME corpus.gate_verdicts_verdict_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE corpus.generations (
    corpus text NOT NULL,
    generation integer NOT NULL,
    base_generation integer NOT NULL,
    status text NOT NULL,
    root_sha256 text NOT NULL,
    serving_table text NOT NULL,
    embedding_fingerprint text NOT NULL,
    chunker_fingerprint text NOT NULL,
    model jsonb NOT NULL,
    counts jsonb NOT NULL,
    as_of date NOT NULL,
    inputs jsonb NOT NULL,
    run_id text NOT NULL,
    staged_at timestamp with time zone DEFAULT now() NOT NULL,
    published_at timestamp with time zone,
    ended_at timestamp with time zone,
    rows_removed_at timestamp with time zone,
    analyser jsonb,
    lexical_fragments integer,
    lexical_terms bigint,
    lexical_shortest integer,
    CONSTRAINT generations_generation_check CHECK ((generation > 0)),
    CONSTRAINT generations_status_check CHECK ((status = ANY (ARRAY['staged'::text, 'published'::text, 'superseded'::text, 'rolled_back'::text, 'abandoned'::text])))
);

COMMENT ON TABLE corpus.generations IS 'Every generation ever staged; rows stay when their data go, so that no number is used twice.';

COMMENT ON COLUMN corpus.generations.base_generation IS 'Published generation it was compared with; 0 before the first. Publication demands that it still is.';

COMMENT ON COLUMN corpus.generations.rows_removed_at IS 'Set when retention or a later staging removed rows of it; it can then never be served again.';

COMMENT ON COLUMN corpus.generations.analyser IS 'What words are made of in this generation; NULL for one that was staged before there was lexical ranking.';

COMMENT ON COLUMN corpus.generations.lexical_fragments IS 'Its current fragments; with lexical_terms the mean length that BM25 asks for.';

COMMENT ON COLUMN corpus.generations.lexical_shortest IS 'Terms of the shortest of them, for bounds of scores.';

CREATE TABLE corpus.lsh_bands (
    band_key bigint NOT NULL,
    signature_id bigint NOT NULL
);

COMMENT ON TABLE corpus.lsh_bands IS 'Index of signatures by the hash of each LSH band; the hash includes band number and parameters.';

CREATE TABLE corpus.posting_blocks (
    index_id integer NOT NULL,
    term integer NOT NULL,
    block integer NOT NULL,
    weight real NOT NULL,
    impacts public.sparsevec(1000) NOT NULL
)
WITH (toast_tuple_target='8160');

COMMENT ON TABLE corpus.posting_blocks IS 'Posting lists, 1000 places a block.';

COMMENT ON COLUMN corpus.posting_blocks.weight IS 'Inverse document frequency of the term when the block was made.';

COMMENT ON COLUMN corpus.posting_blocks.impacts IS 'What the term added to the BM25 of each fragment when the block was made.';

ALTER TABLE corpus.posting_indexes ALTER COLUMN index_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME corpus.posting_indexes_index_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE corpus.posting_places (
    index_id integer NOT NULL,
    place integer NOT NULL,
    fragment_id text NOT NULL,
    generation_from integer NOT NULL
);

COMMENT ON TABLE corpus.posting_places IS 'Which row of the leaf a place stands for; a place is never given twice. The row may be gone.';

CREATE TABLE corpus.publication_log (
    entry_id bigint NOT NULL,
    corpus text NOT NULL,
    action text NOT NULL,
    from_generation integer,
    to_generation integer NOT NULL,
    who text NOT NULL,
    reason text NOT NULL,
    logged_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT publication_log_action_check CHECK ((action = ANY (ARRAY['publish'::text, 'rollback'::text, 'resume'::text, 'repair'::text, 'purge'::text])))
);

COMMENT ON TABLE corpus.publication_log IS 'Every move of the pointer, every lifted hold, and every change to the rows of a published generation.';

ALTER TABLE corpus.publication_log ALTER COLUMN entry_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME corpus.publication_log_entry_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE corpus.published_documents (
    corpus text NOT NULL,
    document_id text NOT NULL,
    text_sha256 text NOT NULL,
    exclusion_reason text,
    superseded_by text,
    generation_from integer NOT NULL,
    generation_to integer
);

COMMENT ON TABLE corpus.published_documents IS 'Documents of published generations, for what other corpora may know: a row for the generations from generation_from up to, not including, generation_to.';

CREATE TABLE corpus.published_roots (
    corpus text NOT NULL,
    generation integer NOT NULL,
    root_sha256 text NOT NULL,
    known_from integer NOT NULL
);

COMMENT ON TABLE corpus.published_roots IS 'The generation of a corpus that others may know: moved in the transaction that moves the pointer.';

COMMENT ON COLUMN corpus.published_roots.known_from IS 'Documents are kept for the published generations from this one on.';

CREATE TABLE corpus.purged_files (
    file_sha256 text NOT NULL,
    purge_id text NOT NULL
);

COMMENT ON TABLE corpus.purged_files IS 'Files that the inventory leaves out, wherever they turn up.';

CREATE TABLE corpus.purges (
    purge_id text NOT NULL,
    reason text NOT NULL,
    purged_by text NOT NULL,
    purged_at timestamp with time zone DEFAULT now() NOT NULL,
    receipt jsonb NOT NULL
);

COMMENT ON TABLE corpus.purges IS 'What was removed for good, when, by whom and why. A receipt has numbers and hashes only; a row is never changed.';

COMMENT ON COLUMN corpus.purges.purge_id IS 'The beginning of the SHA-256 of the receipt.';

CREATE TABLE corpus.quarantine (
    corpus text NOT NULL,
    document_id text NOT NULL COLLATE pg_catalog."C",
    source_uri text NOT NULL,
    source_sha256 text NOT NULL,
    reason text NOT NULL,
    message text NOT NULL,
    requested_converter text NOT NULL,
    policy_sha256 text NOT NULL,
    limits_sha256 text NOT NULL,
    tried jsonb NOT NULL,
    attempts integer NOT NULL,
    first_failed_at timestamp with time zone NOT NULL,
    last_failed_at timestamp with time zone NOT NULL,
    replay_requested boolean DEFAULT false NOT NULL
);

COMMENT ON TABLE corpus.quarantine IS 'Files without a converted document and why; tried again when file, policy, limits or converter change, or when replay is requested.';

CREATE TABLE corpus.removal_holds (
    corpus text NOT NULL,
    document_id text NOT NULL COLLATE pg_catalog."C",
    run_id text NOT NULL,
    held_at timestamp with time zone DEFAULT now() NOT NULL,
    approved_by text,
    approved_at timestamp with time zone,
    CONSTRAINT removal_holds_check CHECK (((approved_by IS NULL) = (approved_at IS NULL)))
);

COMMENT ON TABLE corpus.removal_holds IS 'Files that a short listing lacked: kept until they reappear or a person approves their removal.';

CREATE TABLE corpus.source_changes (
    change_id bigint NOT NULL,
    corpus text NOT NULL,
    document_id text NOT NULL COLLATE pg_catalog."C",
    change text NOT NULL,
    sha256 text NOT NULL,
    previous_sha256 text NOT NULL,
    renamed_from text,
    approved_by text,
    run_id text NOT NULL,
    changed_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT source_changes_change_check CHECK ((change = ANY (ARRAY['added'::text, 'changed'::text, 'removed'::text, 'restored'::text])))
);

COMMENT ON TABLE corpus.source_changes IS 'What each inventory found added, changed (content or metadata), removed or restored; rows are only added.';

ALTER TABLE corpus.source_changes ALTER COLUMN change_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME corpus.source_changes_change_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE corpus.source_files (
    corpus text NOT NULL,
    document_id text NOT NULL COLLATE pg_catalog."C",
    relative_path text NOT NULL,
    source_uri text NOT NULL,
    sha256 text NOT NULL,
    size_bytes bigint NOT NULL,
    modified_at timestamp with time zone,
    extension text NOT NULL,
    declared jsonb NOT NULL,
    declared_by jsonb NOT NULL,
    doubt text NOT NULL,
    container text DEFAULT ''::text NOT NULL,
    refusal text DEFAULT ''::text NOT NULL
);

COMMENT ON TABLE corpus.source_files IS 'Every file of a corpus as the last inventory found it; sha256 is empty for a file that could not be read.';

CREATE TABLE corpus.source_readings (
    corpus text NOT NULL,
    path text NOT NULL COLLATE pg_catalog."C",
    change_token text NOT NULL,
    sha256 text NOT NULL,
    size_bytes bigint NOT NULL,
    declared jsonb NOT NULL,
    problems jsonb NOT NULL,
    may_be_container boolean DEFAULT false NOT NULL
);

COMMENT ON TABLE corpus.source_readings IS 'Cache: what reading a file or sidecar gave while its change_token was this; may be emptied at any time.';

CREATE TABLE corpus.stage_states (
    corpus text NOT NULL,
    stage text NOT NULL,
    input_sha256 text NOT NULL,
    output_sha256 text NOT NULL,
    as_of date NOT NULL,
    run_id text NOT NULL,
    counts jsonb NOT NULL,
    elapsed_seconds double precision NOT NULL,
    finished_at timestamp with time zone DEFAULT now() NOT NULL
);

COMMENT ON TABLE corpus.stage_states IS 'Last finished output of each stage; input_sha256 is the output_sha256 of the stage before.';

CREATE TABLE corpus.term_statistics (
    corpus text NOT NULL,
    term integer NOT NULL,
    fragment_count integer NOT NULL,
    generation_from integer NOT NULL,
    generation_to integer,
    CONSTRAINT term_statistics_fragment_count_check CHECK ((fragment_count > 0))
);

COMMENT ON TABLE corpus.term_statistics IS 'In how many current fragments of a generation each term occurs, whoever may see them; readers have no access.';

CREATE TABLE corpus.text_profiles (
    text_sha256 text NOT NULL,
    normaliser text NOT NULL,
    normalised_sha256 text NOT NULL,
    word_count integer NOT NULL,
    line_digests bytea NOT NULL,
    line_words bytea NOT NULL
);

COMMENT ON TABLE corpus.text_profiles IS 'What a converted text is compared by exactly, and its lines as little-endian 64-bit hashes with their words (32-bit).';

CREATE TABLE corpus.unused_signatures (
    signature_id bigint NOT NULL,
    since timestamp with time zone DEFAULT now() NOT NULL
);

COMMENT ON TABLE corpus.unused_signatures IS 'Signatures that no document uses, since when or since a run last needed them; removed some time later.';

CREATE TABLE corpus.version_conflicts (
    corpus text NOT NULL,
    ordinal integer NOT NULL,
    kind text NOT NULL,
    documents text[] NOT NULL,
    message text NOT NULL,
    suggestion text NOT NULL,
    resolved boolean NOT NULL
);

COMMENT ON COLUMN corpus.version_conflicts.suggestion IS 'A line for corpora.yaml that would settle the conflict.';

CREATE TABLE corpus.version_evidence (
    document_sha256 text NOT NULL,
    extractor_version text NOT NULL,
    evidence jsonb NOT NULL
);

COMMENT ON TABLE corpus.version_evidence IS 'What a converted document says about versions; depends on its content and the extractor alone.';

CREATE TABLE corpus.version_relations (
    corpus text NOT NULL,
    ordinal integer NOT NULL,
    source_id text,
    target_id text,
    source_reference text NOT NULL,
    target_reference text NOT NULL,
    relation text NOT NULL,
    rule text NOT NULL,
    evidence text NOT NULL,
    confidence double precision NOT NULL,
    applied boolean NOT NULL,
    note text NOT NULL
);

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
)
PARTITION BY LIST (corpus);

COMMENT ON TABLE serving.parents IS 'Sections that can be read alone, for expanding a fragment; a partition a corpus is made at run time.';

CREATE TABLE serving.publications (
    corpus text NOT NULL,
    generation integer NOT NULL,
    root_sha256 text NOT NULL,
    serving_table text NOT NULL,
    embedding_fingerprint text NOT NULL,
    model jsonb NOT NULL,
    published_at timestamp with time zone DEFAULT now() NOT NULL,
    held boolean DEFAULT false NOT NULL,
    held_by text,
    held_at timestamp with time zone,
    held_reason text,
    analyser jsonb
);

COMMENT ON TABLE serving.publications IS 'The pointer: which generation of a corpus readers see, and where. One row a corpus.';

COMMENT ON COLUMN serving.publications.analyser IS 'What the words of a query must be made of; NULL while the corpus is served without lexical ranking.';

CREATE TABLE serving.role_groups (
    role_name name NOT NULL,
    acl_groups text[]
);

COMMENT ON TABLE serving.role_groups IS 'Access groups of a login. NULL marks the login of an application, which names the groups of its user in corpus.groups.';

ALTER TABLE ONLY corpus.analysed_texts
    ADD CONSTRAINT analysed_texts_pkey PRIMARY KEY (analyser, embedded_sha256);

ALTER TABLE ONLY corpus.chunked_documents
    ADD CONSTRAINT chunked_documents_pkey PRIMARY KEY (document_id);

ALTER TABLE ONLY corpus.compared_documents
    ADD CONSTRAINT compared_documents_pkey PRIMARY KEY (corpus, document_id);

ALTER TABLE ONLY corpus.comparison_states
    ADD CONSTRAINT comparison_states_pkey PRIMARY KEY (corpus);

ALTER TABLE ONLY corpus.container_readings
    ADD CONSTRAINT container_readings_pkey PRIMARY KEY (corpus, path);

ALTER TABLE ONLY corpus.containment_keys
    ADD CONSTRAINT containment_keys_pkey PRIMARY KEY (shingle_key, signature_id);

ALTER TABLE ONLY corpus.conversion_audit_reports
    ADD CONSTRAINT conversion_audit_reports_pkey PRIMARY KEY (report_id);

ALTER TABLE ONLY corpus.conversion_audits
    ADD CONSTRAINT conversion_audits_pkey PRIMARY KEY (audit_id);

ALTER TABLE ONLY corpus.conversion_routes
    ADD CONSTRAINT conversion_routes_pkey PRIMARY KEY (source_sha256, policy_sha256, options_sha256);

ALTER TABLE ONLY corpus.conversions
    ADD CONSTRAINT conversions_pkey PRIMARY KEY (source_sha256, converter_fingerprint);

ALTER TABLE ONLY corpus.cross_corpus_edges
    ADD CONSTRAINT cross_corpus_edges_pkey PRIMARY KEY (left_corpus, left_document_id, right_corpus, right_document_id);

ALTER TABLE ONLY corpus.document_signatures
    ADD CONSTRAINT document_signatures_pkey PRIMARY KEY (signature_id);

ALTER TABLE ONLY corpus.document_signatures
    ADD CONSTRAINT document_signatures_signature_sha256_key UNIQUE (signature_sha256);

ALTER TABLE ONLY corpus.document_version_history
    ADD CONSTRAINT document_version_history_pkey PRIMARY KEY (corpus, document_id, decided_from, known_from);

ALTER TABLE ONLY corpus.document_versions
    ADD CONSTRAINT document_versions_pkey PRIMARY KEY (corpus, document_id);

ALTER TABLE ONLY corpus.documents
    ADD CONSTRAINT documents_pkey PRIMARY KEY (corpus, document_id);

ALTER TABLE ONLY corpus.duplicate_cluster_members
    ADD CONSTRAINT duplicate_cluster_members_pkey PRIMARY KEY (corpus, document_id);

ALTER TABLE ONLY corpus.duplicate_edges
    ADD CONSTRAINT duplicate_edges_pkey PRIMARY KEY (corpus, left_id, right_id);

ALTER TABLE ONLY corpus.embedding_models
    ADD CONSTRAINT embedding_models_pkey PRIMARY KEY (fingerprint);

ALTER TABLE ONLY corpus.embeddings
    ADD CONSTRAINT embeddings_pkey PRIMARY KEY (fingerprint, embedded_sha256);

ALTER TABLE ONLY corpus.evaluation_queries
    ADD CONSTRAINT evaluation_queries_pkey PRIMARY KEY (corpus, generation, query_id);

ALTER TABLE ONLY corpus.evaluations
    ADD CONSTRAINT evaluations_pkey PRIMARY KEY (corpus, generation);

ALTER TABLE ONLY corpus.evidence_packs
    ADD CONSTRAINT evidence_packs_pkey PRIMARY KEY (pack_id);

ALTER TABLE ONLY corpus.fragment_marks
    ADD CONSTRAINT fragment_marks_pkey PRIMARY KEY (fragment_id);

ALTER TABLE ONLY corpus.fragments
    ADD CONSTRAINT fragments_document_id_ordinal_key UNIQUE (document_id, ordinal);

ALTER TABLE ONLY corpus.fragments
    ADD CONSTRAINT fragments_pkey PRIMARY KEY (fragment_id);

ALTER TABLE ONLY corpus.gate_verdicts
    ADD CONSTRAINT gate_verdicts_pkey PRIMARY KEY (verdict_id);

ALTER TABLE ONLY corpus.generations
    ADD CONSTRAINT generations_pkey PRIMARY KEY (corpus, generation);

ALTER TABLE ONLY corpus.lsh_bands
    ADD CONSTRAINT lsh_bands_pkey PRIMARY KEY (band_key, signature_id);

ALTER TABLE ONLY corpus.parents
    ADD CONSTRAINT parents_document_id_ordinal_key UNIQUE (document_id, ordinal);

ALTER TABLE ONLY corpus.parents
    ADD CONSTRAINT parents_pkey PRIMARY KEY (parent_id);

ALTER TABLE ONLY corpus.posting_blocks
    ADD CONSTRAINT posting_blocks_pkey PRIMARY KEY (index_id, term, block);

ALTER TABLE ONLY corpus.posting_indexes
    ADD CONSTRAINT posting_indexes_pkey PRIMARY KEY (index_id);

ALTER TABLE ONLY corpus.posting_indexes
    ADD CONSTRAINT posting_indexes_serving_table_corpus_key UNIQUE (serving_table, corpus);

ALTER TABLE ONLY corpus.posting_places
    ADD CONSTRAINT posting_places_pkey PRIMARY KEY (index_id, place);

ALTER TABLE ONLY corpus.publication_log
    ADD CONSTRAINT publication_log_pkey PRIMARY KEY (entry_id);

ALTER TABLE ONLY corpus.published_documents
    ADD CONSTRAINT published_documents_pkey PRIMARY KEY (corpus, document_id, generation_from);

ALTER TABLE ONLY corpus.published_roots
    ADD CONSTRAINT published_roots_pkey PRIMARY KEY (corpus);

ALTER TABLE ONLY corpus.purged_files
    ADD CONSTRAINT purged_files_pkey PRIMARY KEY (file_sha256);

ALTER TABLE ONLY corpus.purges
    ADD CONSTRAINT purges_pkey PRIMARY KEY (purge_id);

ALTER TABLE ONLY corpus.quarantine
    ADD CONSTRAINT quarantine_pkey PRIMARY KEY (corpus, document_id);

ALTER TABLE ONLY corpus.removal_holds
    ADD CONSTRAINT removal_holds_pkey PRIMARY KEY (corpus, document_id);

ALTER TABLE ONLY corpus.source_changes
    ADD CONSTRAINT source_changes_pkey PRIMARY KEY (change_id);

ALTER TABLE ONLY corpus.source_files
    ADD CONSTRAINT source_files_pkey PRIMARY KEY (corpus, document_id);

ALTER TABLE ONLY corpus.source_readings
    ADD CONSTRAINT source_readings_pkey PRIMARY KEY (corpus, path);

ALTER TABLE ONLY corpus.stage_states
    ADD CONSTRAINT stage_states_pkey PRIMARY KEY (corpus, stage);

ALTER TABLE ONLY corpus.term_statistics
    ADD CONSTRAINT term_statistics_pkey PRIMARY KEY (corpus, term, generation_from);

ALTER TABLE ONLY corpus.text_profiles
    ADD CONSTRAINT text_profiles_pkey PRIMARY KEY (text_sha256, normaliser);

ALTER TABLE ONLY corpus.unused_signatures
    ADD CONSTRAINT unused_signatures_pkey PRIMARY KEY (signature_id);

ALTER TABLE ONLY corpus.version_conflicts
    ADD CONSTRAINT version_conflicts_pkey PRIMARY KEY (corpus, ordinal);

ALTER TABLE ONLY corpus.version_evidence
    ADD CONSTRAINT version_evidence_pkey PRIMARY KEY (document_sha256, extractor_version);

ALTER TABLE ONLY corpus.version_relations
    ADD CONSTRAINT version_relations_pkey PRIMARY KEY (corpus, ordinal);

ALTER TABLE ONLY serving.publications
    ADD CONSTRAINT publications_pkey PRIMARY KEY (corpus);

ALTER TABLE ONLY serving.role_groups
    ADD CONSTRAINT role_groups_pkey PRIMARY KEY (role_name);

CREATE INDEX chunked_documents_corpus ON corpus.chunked_documents USING btree (corpus);

CREATE INDEX compared_documents_class ON corpus.compared_documents USING btree (corpus, normalised_sha256, text_sha256);

CREATE INDEX compared_documents_signature ON corpus.compared_documents USING btree (signature_id) WHERE (signature_id IS NOT NULL);

CREATE INDEX conversion_audits_corpus ON corpus.conversion_audits USING btree (corpus, recorded_at);

CREATE INDEX cross_corpus_edges_right ON corpus.cross_corpus_edges USING btree (right_corpus, right_document_id);

CREATE INDEX document_version_history_open ON corpus.document_version_history USING btree (corpus) WHERE ((known_until IS NULL) AND (decided_until IS NULL));

CREATE INDEX document_versions_family ON corpus.document_versions USING btree (corpus, family);

CREATE INDEX duplicate_cluster_members_cluster ON corpus.duplicate_cluster_members USING btree (corpus, cluster_id);

CREATE INDEX duplicate_edges_right ON corpus.duplicate_edges USING btree (corpus, right_id);

CREATE INDEX evidence_packs_created ON corpus.evidence_packs USING btree (created_at DESC, pack_id);

CREATE INDEX evidence_packs_documents ON corpus.evidence_packs USING gin (documents);

CREATE INDEX fragment_marks_corpus ON corpus.fragment_marks USING btree (corpus);

CREATE INDEX fragments_embedded ON corpus.fragments USING btree (corpus, embedded_sha256);

CREATE INDEX fragments_parent ON corpus.fragments USING btree (parent_id);

CREATE INDEX gate_verdicts_lookup ON corpus.gate_verdicts USING btree (corpus, stage, output_sha256, verdict_id DESC);

CREATE INDEX parents_corpus ON corpus.parents USING btree (corpus);

CREATE INDEX publication_log_corpus ON corpus.publication_log USING btree (corpus, entry_id);

CREATE INDEX source_changes_document ON corpus.source_changes USING btree (corpus, document_id, change_id DESC);

CREATE TRIGGER evidence_packs_immutable BEFORE UPDATE ON corpus.evidence_packs FOR EACH ROW EXECUTE FUNCTION corpus.refuse_change();

ALTER TABLE ONLY corpus.compared_documents
    ADD CONSTRAINT compared_documents_signature_id_fkey FOREIGN KEY (signature_id) REFERENCES corpus.document_signatures(signature_id);

ALTER TABLE ONLY corpus.conversion_audits
    ADD CONSTRAINT conversion_audits_report_id_fkey FOREIGN KEY (report_id) REFERENCES corpus.conversion_audit_reports(report_id);

ALTER TABLE ONLY corpus.embeddings
    ADD CONSTRAINT embeddings_fingerprint_fkey FOREIGN KEY (fingerprint) REFERENCES corpus.embedding_models(fingerprint);

ALTER TABLE ONLY corpus.evaluation_queries
    ADD CONSTRAINT evaluation_queries_corpus_generation_fkey FOREIGN KEY (corpus, generation) REFERENCES corpus.evaluations(corpus, generation) ON DELETE CASCADE;

ALTER TABLE ONLY corpus.fragment_marks
    ADD CONSTRAINT fragment_marks_fragment_id_fkey FOREIGN KEY (fragment_id) REFERENCES corpus.fragments(fragment_id) ON DELETE CASCADE;

ALTER TABLE ONLY corpus.fragments
    ADD CONSTRAINT fragments_parent_id_fkey FOREIGN KEY (parent_id) REFERENCES corpus.parents(parent_id) ON DELETE CASCADE;

ALTER TABLE ONLY corpus.parents
    ADD CONSTRAINT parents_document_id_fkey FOREIGN KEY (document_id) REFERENCES corpus.chunked_documents(document_id) ON DELETE CASCADE;

ALTER TABLE ONLY corpus.purged_files
    ADD CONSTRAINT purged_files_purge_id_fkey FOREIGN KEY (purge_id) REFERENCES corpus.purges(purge_id);

ALTER TABLE ONLY serving.publications
    ADD CONSTRAINT publications_corpus_generation_fkey FOREIGN KEY (corpus, generation) REFERENCES corpus.generations(corpus, generation);

CREATE POLICY evaluated_rows ON serving.parents FOR SELECT TO corpus_evaluator USING (((acl_groups && ( SELECT serving.session_groups() AS session_groups)) AND (generation_from <= ((( SELECT serving.evaluated_generations(NULL::text) AS evaluated_generations) ->> corpus))::integer) AND ((generation_to IS NULL) OR (generation_to > ((( SELECT serving.evaluated_generations(NULL::text) AS evaluated_generations) ->> corpus))::integer)) AND (( SELECT serving.archived_shown() AS archived_shown) OR ((serving_state = 'current'::text) AND ((valid_from IS NULL) OR (valid_from <= ( SELECT serving.as_of_date() AS as_of_date))) AND ((valid_until IS NULL) OR (valid_until >= ( SELECT serving.as_of_date() AS as_of_date)))))));

ALTER TABLE serving.parents ENABLE ROW LEVEL SECURITY;

CREATE POLICY published_rows ON serving.parents FOR SELECT TO corpus_reader USING (((acl_groups && ( SELECT serving.session_groups() AS session_groups)) AND (generation_from <= ((( SELECT serving.published_generations(NULL::text) AS published_generations) ->> corpus))::integer) AND ((generation_to IS NULL) OR (generation_to > ((( SELECT serving.published_generations(NULL::text) AS published_generations) ->> corpus))::integer)) AND (( SELECT serving.archived_shown() AS archived_shown) OR ((serving_state = 'current'::text) AND ((valid_from IS NULL) OR (valid_from <= ( SELECT serving.as_of_date() AS as_of_date))) AND ((valid_until IS NULL) OR (valid_until >= ( SELECT serving.as_of_date() AS as_of_date)))))));

GRANT USAGE ON SCHEMA corpus TO corpus_writer;

GRANT USAGE ON SCHEMA serving TO corpus_writer;
GRANT USAGE ON SCHEMA serving TO corpus_reader;
GRANT USAGE ON SCHEMA serving TO corpus_evaluator;

GRANT ALL ON TABLE corpus.posting_indexes TO corpus_writer;

REVOKE ALL ON FUNCTION corpus.candidates_by_impact(prepared corpus.lexical_search, postings corpus.posting_indexes, most integer, OUT is_complete boolean, OUT fragment_ids text[], OUT scores double precision[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION corpus.candidates_by_key(prepared corpus.lexical_search, most integer) FROM PUBLIC;

GRANT ALL ON TABLE corpus.fragments TO corpus_writer;

REVOKE ALL ON FUNCTION corpus.fragment_digest(head text, fragment corpus.fragments) FROM PUBLIC;

REVOKE ALL ON FUNCTION corpus.lexical_candidates(rule name, of_table text, of_corpus text, of_generation integer, query_terms integer[], filters jsonb, most integer) FROM PUBLIC;

GRANT ALL ON TABLE corpus.fragment_marks TO corpus_writer;

REVOKE ALL ON FUNCTION corpus.marked_digest(digest text, mark corpus.fragment_marks) FROM PUBLIC;

GRANT ALL ON TABLE corpus.parents TO corpus_writer;

REVOKE ALL ON FUNCTION corpus.parent_digest(head text, parent corpus.parents) FROM PUBLIC;

REVOKE ALL ON FUNCTION corpus.prepared_lexical_search(rule name, of_table text, of_corpus text, of_generation integer, query_terms integer[], filters jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION corpus.protect_serving_table(table_name text, of_table text) FROM PUBLIC;

REVOKE ALL ON FUNCTION corpus.share_passing(leaf name, filters jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION serving.archived_shown() FROM PUBLIC;
GRANT ALL ON FUNCTION serving.archived_shown() TO corpus_reader;
GRANT ALL ON FUNCTION serving.archived_shown() TO corpus_evaluator;

REVOKE ALL ON FUNCTION serving.as_of_date() FROM PUBLIC;
GRANT ALL ON FUNCTION serving.as_of_date() TO corpus_reader;
GRANT ALL ON FUNCTION serving.as_of_date() TO corpus_evaluator;

REVOKE ALL ON FUNCTION serving.evaluated_generations(of_table text) FROM PUBLIC;
GRANT ALL ON FUNCTION serving.evaluated_generations(of_table text) TO corpus_evaluator;

REVOKE ALL ON FUNCTION serving.evaluated_lexical_candidates(of_corpus text, query_terms integer[], filters jsonb, most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION serving.evaluated_lexical_candidates(of_corpus text, query_terms integer[], filters jsonb, most integer) TO corpus_evaluator;

REVOKE ALL ON FUNCTION serving.has_attributes(attributes jsonb, wanted jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION serving.has_attributes(attributes jsonb, wanted jsonb) TO corpus_reader;
GRANT ALL ON FUNCTION serving.has_attributes(attributes jsonb, wanted jsonb) TO corpus_evaluator;

REVOKE ALL ON FUNCTION serving.has_tier(plan_tiers text[], wanted text) FROM PUBLIC;
GRANT ALL ON FUNCTION serving.has_tier(plan_tiers text[], wanted text) TO corpus_reader;
GRANT ALL ON FUNCTION serving.has_tier(plan_tiers text[], wanted text) TO corpus_evaluator;

REVOKE ALL ON FUNCTION serving.lexical_candidates(of_corpus text, query_terms integer[], filters jsonb, most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION serving.lexical_candidates(of_corpus text, query_terms integer[], filters jsonb, most integer) TO corpus_reader;

REVOKE ALL ON FUNCTION serving.passes_filters(filters jsonb, product_key text, domain_key text, audience_key text, source_class_key text, region_key text, environment_key text, plan_tiers text[], answer_use text, attributes jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION serving.passes_filters(filters jsonb, product_key text, domain_key text, audience_key text, source_class_key text, region_key text, environment_key text, plan_tiers text[], answer_use text, attributes jsonb) TO corpus_reader;
GRANT ALL ON FUNCTION serving.passes_filters(filters jsonb, product_key text, domain_key text, audience_key text, source_class_key text, region_key text, environment_key text, plan_tiers text[], answer_use text, attributes jsonb) TO corpus_evaluator;

REVOKE ALL ON FUNCTION serving.published_generations(of_table text) FROM PUBLIC;
GRANT ALL ON FUNCTION serving.published_generations(of_table text) TO corpus_reader;
GRANT ALL ON FUNCTION serving.published_generations(of_table text) TO corpus_evaluator;

REVOKE ALL ON FUNCTION serving.session_groups() FROM PUBLIC;
GRANT ALL ON FUNCTION serving.session_groups() TO corpus_reader;
GRANT ALL ON FUNCTION serving.session_groups() TO corpus_evaluator;

REVOKE ALL ON FUNCTION corpus.total(public.vector) FROM PUBLIC;

GRANT ALL ON TABLE corpus.analysed_texts TO corpus_writer;

GRANT ALL ON TABLE corpus.chunked_documents TO corpus_writer;

GRANT ALL ON TABLE corpus.compared_documents TO corpus_writer;

GRANT ALL ON TABLE corpus.comparison_states TO corpus_writer;

GRANT ALL ON TABLE corpus.container_readings TO corpus_writer;

GRANT ALL ON TABLE corpus.containment_keys TO corpus_writer;

GRANT ALL ON TABLE corpus.conversion_audit_reports TO corpus_writer;

GRANT ALL ON TABLE corpus.conversion_audits TO corpus_writer;

GRANT ALL ON TABLE corpus.conversion_routes TO corpus_writer;

GRANT ALL ON TABLE corpus.conversions TO corpus_writer;

GRANT ALL ON TABLE corpus.cross_corpus_edges TO corpus_writer;

GRANT ALL ON TABLE corpus.document_signatures TO corpus_writer;

GRANT ALL ON SEQUENCE corpus.document_signatures_signature_id_seq TO corpus_writer;

GRANT ALL ON TABLE corpus.document_version_history TO corpus_writer;

GRANT ALL ON TABLE corpus.document_versions TO corpus_writer;

GRANT ALL ON TABLE corpus.documents TO corpus_writer;

GRANT ALL ON TABLE corpus.duplicate_cluster_members TO corpus_writer;

GRANT ALL ON TABLE corpus.duplicate_edges TO corpus_writer;

GRANT ALL ON TABLE corpus.embedding_models TO corpus_writer;

GRANT ALL ON TABLE corpus.embeddings TO corpus_writer;

GRANT ALL ON TABLE corpus.evaluation_queries TO corpus_writer;

GRANT ALL ON TABLE corpus.evaluations TO corpus_writer;

GRANT ALL ON TABLE corpus.evidence_packs TO corpus_writer;

GRANT ALL ON TABLE corpus.gate_verdicts TO corpus_writer;

GRANT ALL ON SEQUENCE corpus.gate_verdicts_verdict_id_seq TO corpus_writer;

GRANT ALL ON TABLE corpus.generations TO corpus_writer;

GRANT ALL ON TABLE corpus.lsh_bands TO corpus_writer;

GRANT ALL ON TABLE corpus.posting_blocks TO corpus_writer;

GRANT ALL ON SEQUENCE corpus.posting_indexes_index_id_seq TO corpus_writer;

GRANT ALL ON TABLE corpus.posting_places TO corpus_writer;

GRANT ALL ON TABLE corpus.publication_log TO corpus_writer;

GRANT ALL ON SEQUENCE corpus.publication_log_entry_id_seq TO corpus_writer;

GRANT ALL ON TABLE corpus.published_documents TO corpus_writer;

GRANT ALL ON TABLE corpus.published_roots TO corpus_writer;

GRANT ALL ON TABLE corpus.purged_files TO corpus_writer;

GRANT ALL ON TABLE corpus.purges TO corpus_writer;

GRANT ALL ON TABLE corpus.quarantine TO corpus_writer;

GRANT ALL ON TABLE corpus.removal_holds TO corpus_writer;

GRANT ALL ON TABLE corpus.source_changes TO corpus_writer;

GRANT ALL ON SEQUENCE corpus.source_changes_change_id_seq TO corpus_writer;

GRANT ALL ON TABLE corpus.source_files TO corpus_writer;

GRANT ALL ON TABLE corpus.source_readings TO corpus_writer;

GRANT ALL ON TABLE corpus.stage_states TO corpus_writer;

GRANT ALL ON TABLE corpus.term_statistics TO corpus_writer;

GRANT ALL ON TABLE corpus.text_profiles TO corpus_writer;

GRANT ALL ON TABLE corpus.unused_signatures TO corpus_writer;

GRANT ALL ON TABLE corpus.version_conflicts TO corpus_writer;

GRANT ALL ON TABLE corpus.version_evidence TO corpus_writer;

GRANT ALL ON TABLE corpus.version_relations TO corpus_writer;

GRANT SELECT ON TABLE serving.parents TO corpus_reader;
GRANT SELECT ON TABLE serving.parents TO corpus_evaluator;

GRANT SELECT(corpus) ON TABLE serving.publications TO corpus_reader;
GRANT SELECT(corpus) ON TABLE serving.publications TO corpus_evaluator;

GRANT SELECT(generation) ON TABLE serving.publications TO corpus_reader;
GRANT SELECT(generation) ON TABLE serving.publications TO corpus_evaluator;

GRANT SELECT(root_sha256) ON TABLE serving.publications TO corpus_reader;
GRANT SELECT(root_sha256) ON TABLE serving.publications TO corpus_evaluator;

GRANT SELECT(serving_table) ON TABLE serving.publications TO corpus_reader;
GRANT SELECT(serving_table) ON TABLE serving.publications TO corpus_evaluator;

GRANT SELECT(embedding_fingerprint) ON TABLE serving.publications TO corpus_reader;
GRANT SELECT(embedding_fingerprint) ON TABLE serving.publications TO corpus_evaluator;

GRANT SELECT(model) ON TABLE serving.publications TO corpus_reader;
GRANT SELECT(model) ON TABLE serving.publications TO corpus_evaluator;

GRANT SELECT(published_at) ON TABLE serving.publications TO corpus_reader;
GRANT SELECT(published_at) ON TABLE serving.publications TO corpus_evaluator;

GRANT SELECT(analyser) ON TABLE serving.publications TO corpus_reader;
GRANT SELECT(analyser) ON TABLE serving.publications TO corpus_evaluator;

ALTER DEFAULT PRIVILEGES FOR ROLE postgres IN SCHEMA corpus GRANT ALL ON SEQUENCES TO corpus_writer;

ALTER DEFAULT PRIVILEGES FOR ROLE postgres IN SCHEMA corpus GRANT ALL ON TABLES TO corpus_writer;
