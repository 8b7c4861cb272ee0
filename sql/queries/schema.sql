-- name: describe_schema
-- One line for every object of our schemas; serving tables made at run time are left out.
WITH ours AS (
    SELECT c.oid, n.nspname, c.relname, c.relkind, c.relrowsecurity, c.relforcerowsecurity, c.relacl
    FROM pg_class c
    JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname IN ('corpus', 'serving')
      AND NOT (n.nspname = 'serving' AND c.relname ~ '^(fragments|parents)_')
)
SELECT line FROM (
    SELECT format('relation %s.%s kind=%s rls=%s force=%s acl=%s', nspname, relname, relkind, relrowsecurity, relforcerowsecurity,
                  (SELECT string_agg(split_part(a::text, '/', 1), ',' ORDER BY split_part(a::text, '/', 1))
                   FROM unnest(relacl) a WHERE a::text LIKE 'corpus\_%%')) AS line
    FROM ours WHERE relkind IN ('r', 'p', 'v', 'm', 'S')
    UNION ALL
    SELECT format('column %s.%s.%s %s notnull=%s default=%s generated=%s', o.nspname, o.relname, a.attname,
                  format_type(a.atttypid, a.atttypmod), a.attnotnull, pg_get_expr(d.adbin, d.adrelid), a.attgenerated)
    FROM ours o
    JOIN pg_attribute a ON a.attrelid = o.oid AND a.attnum > 0 AND NOT a.attisdropped
    LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
    WHERE o.relkind IN ('r', 'p', 'v', 'm')
    UNION ALL
    SELECT format('index %s', pg_get_indexdef(o.oid)) FROM ours o WHERE o.relkind IN ('i', 'I')
    UNION ALL
    SELECT format('constraint %s.%s %s %s', o.nspname, o.relname, k.conname, pg_get_constraintdef(k.oid))
    FROM ours o JOIN pg_constraint k ON k.conrelid = o.oid WHERE k.contype <> 'n'
    UNION ALL
    SELECT format('policy %s.%s %s cmd=%s using=%s check=%s', schemaname, tablename, policyname, cmd, qual, with_check)
    FROM pg_policies WHERE schemaname IN ('corpus', 'serving') AND NOT tablename ~ '^(fragments|parents)_'
    UNION ALL
    SELECT format('trigger %s.%s %s', o.nspname, o.relname, pg_get_triggerdef(t.oid))
    FROM ours o JOIN pg_trigger t ON t.tgrelid = o.oid WHERE NOT t.tgisinternal
    UNION ALL
    SELECT format('function %s.%s(%s) %s acl=%s', n.nspname, p.proname, pg_get_function_identity_arguments(p.oid),
                  md5(pg_get_functiondef(p.oid)),
                  (SELECT string_agg(split_part(a::text, '/', 1), ',' ORDER BY split_part(a::text, '/', 1))
                   FROM unnest(p.proacl) a WHERE a::text LIKE 'corpus\_%%'))
    FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
    WHERE n.nspname IN ('corpus', 'serving') AND p.prokind = 'f'
) lines
ORDER BY line COLLATE "C";
