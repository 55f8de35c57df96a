-- What came of such a step, machine by machine, be it taken once or more often there: up and down count those whose intervals
-- exclude that nothing changed.
SELECT s.what, s.product, s.before, s.now, n.measure, n.subject, n.unit, count(DISTINCT s.machine) AS machines,
       count(DISTINCT CASE WHEN n.x_low > o.x_high + n.least THEN s.machine END) AS up,
       count(DISTINCT CASE WHEN n.x_high < o.x_low - n.least THEN s.machine END) AS down,
       percentile_cont(0.5) WITHIN GROUP (ORDER BY o.value) AS middle_before,
       percentile_cont(0.5) WITHIN GROUP (ORDER BY n.value) AS middle_now
FROM steps s
JOIN figures n ON n.run = s.run
JOIN figures o ON o.run = s.before_run AND o.measure = n.measure AND o.subject = n.subject
GROUP BY s.what, s.product, s.before, s.now, n.measure, n.subject, n.unit
