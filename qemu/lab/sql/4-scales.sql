-- The median absolute deviation, times 1.4826. For a normal distribution this is the standard deviation.
SELECT c.kind, c.measure, c.subject, c.machines, c.middle_x, c.middle,
       percentile_cont(0.5) WITHIN GROUP (ORDER BY abs(f.x - c.middle_x)) * 1.4826 AS deviation
FROM centres c JOIN figures f ON f.kind = c.kind AND f.measure = c.measure AND f.subject = c.subject
WHERE f.place = 1 AND f.machine IS NOT NULL
GROUP BY c.kind, c.measure, c.subject, c.machines, c.middle_x, c.middle
