-- Pairs of runs of a machine. Each pair has the newest run and an earlier run. The earlier run is the previous one, or the last
-- one that is a week older than the newest run of all machines.
SELECT span, who, kind, run, before_run
FROM (
    SELECT 'the run before' AS span, n.who, n.kind, n.run, o.run AS before_run,
           row_number() OVER (PARTITION BY n.who ORDER BY o.place) AS nearest
    FROM measured n JOIN measured o ON o.machine = n.machine
    WHERE n.place = 1 AND o.place > 1 AND (o.moment < n.moment OR o.moment = n.moment AND n.misdated)
    UNION ALL
    SELECT 'last week', n.who, n.kind, n.run, o.run,
           row_number() OVER (PARTITION BY n.who ORDER BY o.place)
    FROM measured n JOIN measured o ON o.machine = n.machine
    CROSS JOIN (SELECT max(moment) AS newest_at FROM measured) newest
    WHERE n.place = 1 AND o.moment <= newest.newest_at - INTERVAL 7 DAYS AND n.moment > newest.newest_at - INTERVAL 7 DAYS
) t
WHERE nearest = 1
