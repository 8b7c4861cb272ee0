-- Searching for words costs less: words that nearly every fragment has are not added up, rows are looked up in the leaf
-- itself, and filters that were not given are not asked about.
CREATE OR REPLACE FUNCTION corpus.prepared_lexical_search(
    rule name, of_table text, of_corpus text, of_generation integer, query_terms integer[], filters jsonb)
RETURNS corpus.lexical_search
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET jit = off
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
    IF prepared.keys IS NULL OR prepared.mean_terms IS NULL THEN
        RETURN prepared;
    END IF;

    -- What a reader may see is what the policy of the table says, word for word.
    SELECT pg_get_expr(p.polqual, p.polrelid) INTO STRICT visible
    FROM pg_policy p
    WHERE p.polrelid = format('serving.%I', of_table)::regclass AND p.polname = rule;

    prepared.search := format(
        'SELECT f.fragment_id, %s AS bm25
         FROM serving.%I AS f, LATERAL (SELECT %L::double precision + %L::double precision * f.term_count AS norm OFFSET 0) AS n
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

CREATE OR REPLACE FUNCTION corpus.candidates_by_impact(
    prepared corpus.lexical_search, postings corpus.posting_indexes, most integer,
    OUT is_complete boolean, OUT fragment_ids text[], OUT scores double precision[])
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET work_mem = '64MB' SET jit = off
    SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_sort = off
AS $$
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

        wanted := greatest(1.5 * most, most + 30.0);
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
$$;

CREATE OR REPLACE FUNCTION corpus.lexical_candidates(
    rule name, of_table text, of_corpus text, of_generation integer, query_terms integer[], filters jsonb, most integer)
RETURNS TABLE (fragment_id text, bm25 double precision)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
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
