-- The effect of each version change in 10-steps.sql, counted by machine. A machine counts once, even if it made the same change
-- several times. up and down count machines whose interval of the change does not include zero.
SELECT s.what, s.product, s.before, s.now, n.measure, n.subject, n.unit, count(DISTINCT s.machine) AS machines,
       count(DISTINCT CASE WHEN n.x_low > o.x_high + n.least THEN s.machine END) AS up,
       count(DISTINCT CASE WHEN n.x_high < o.x_low - n.least THEN s.machine END) AS down,
       percentile_cont(0.5) WITHIN GROUP (ORDER BY o.value) AS middle_before,
       percentile_cont(0.5) WITHIN GROUP (ORDER BY n.value) AS middle_now
FROM steps s
JOIN figures n ON n.run = s.run
JOIN figures o ON o.run = s.before_run AND o.measure = n.measure AND o.subject = n.subject
GROUP BY s.what, s.product, s.before, s.now, n.measure, n.subject, n.unit
