-- The kinds of machines, and the number of identified machines of each kind. Kinds with fewer than five machines are not
-- compared.
SELECT coalesce(m.kind, '-') AS kind,
       sum(CASE WHEN m.place = 1 AND m.machine IS NOT NULL THEN 1 ELSE 0 END) AS machines,
       sum(CASE WHEN m.place = 1 AND m.machine IS NULL THEN 1 ELSE 0 END) AS not_known, count(*) AS runs,
       sum(CASE WHEN m.place = 1 AND m.verdict = 'fail' THEN 1 ELSE 0 END) AS failed,
       sum(CASE WHEN m.place = 1 AND m.verdict = 'warn' THEN 1 ELSE 0 END) AS warned
FROM measured m
GROUP BY coalesce(m.kind, '-')
