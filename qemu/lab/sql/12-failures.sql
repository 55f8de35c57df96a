-- The failures in the newest run of each machine. In a report.csv findings have no severity, so the verdict of the run decides
-- for all of them.
SELECT m.run, m.who, m.kind, f.rule, coalesce(f.clock, 'machine') AS subject, min(f.text) AS text, count(*) AS times
FROM measured m JOIN findings f ON f.run = m.run
WHERE m.place = 1 AND f.severity = 'fail'
GROUP BY m.run, m.who, m.kind, f.rule, coalesce(f.clock, 'machine')
UNION ALL
SELECT m.run, m.who, m.kind, 'verdict', 'machine', 'The verdict is fail.', 1
FROM measured m LEFT JOIN findings f ON f.run = m.run AND f.severity = 'fail'
WHERE m.place = 1 AND m.verdict = 'fail' AND f.run IS NULL
