-- What is no figure: the state of each clock, and how many cores started where all were to, of the newest run of each machine.
SELECT m.run, m.who, m.machine, m.kind, 'state' AS measure, c.clock AS subject, c.state AS value
FROM measured m JOIN clocks c ON c.run = m.run
WHERE m.place = 1 AND m.kind IS NOT NULL AND c.state IS NOT NULL
UNION ALL
SELECT m.run, m.who, m.machine, m.kind, 'cores started', 'machine', CAST(m.cores_started AS VARCHAR(20))
FROM measured m
WHERE m.place = 1 AND m.kind IS NOT NULL AND m.cores_started IS NOT NULL AND m.cores_max IS NULL
  AND coalesce(m.cores_by, '-') <> 'off'
