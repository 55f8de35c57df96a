-- Properties that are not figures, from the newest run of each machine: the state of each clock, and the number of started cores
-- if all cores were to be started.
SELECT m.run, m.who, m.machine, m.kind, 'state' AS measure, c.clock AS subject, c.state AS value
FROM measured m JOIN clocks c ON c.run = m.run
WHERE m.place = 1 AND m.kind IS NOT NULL AND c.state IS NOT NULL
UNION ALL
SELECT m.run, m.who, m.machine, m.kind, 'cores started', 'machine', CAST(m.cores_started AS VARCHAR(20))
FROM measured m
WHERE m.place = 1 AND m.kind IS NOT NULL AND m.cores_started IS NOT NULL AND m.cores_max IS NULL
  AND coalesce(m.cores_by, '-') <> 'off'
