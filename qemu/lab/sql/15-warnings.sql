-- The warnings in the newest run of each machine, as in failures.
SELECT m.run, m.who, m.kind, f.rule, coalesce(f.clock, 'machine') AS subject, min(f.text) AS text, count(*) AS times
FROM measured m JOIN findings f ON f.run = m.run
WHERE m.place = 1 AND f.severity = 'warn'
GROUP BY m.run, m.who, m.kind, f.rule, coalesce(f.clock, 'machine')
UNION ALL
SELECT m.run, m.who, m.kind, 'verdict', 'machine', 'The verdict is warn.', 1
FROM measured m LEFT JOIN findings f ON f.run = m.run AND f.severity = 'warn'
WHERE m.place = 1 AND m.verdict = 'warn' AND f.run IS NULL
