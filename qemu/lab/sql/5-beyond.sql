-- Figures whose whole interval is more than five deviations from the median of their kind. The kind must have five machines or
-- more. If more than a tenth of the kind is so far away, the kind has two groups (is_group), and none of its machines is an
-- outlier.
SELECT b.*, b.beyond > greatest(1.0, 0.1 * b.machines) AS is_group
FROM (
    SELECT f.run, f.who, f.machine, f.kind, f.measure, f.subject, f.unit, f.value, f.low, f.high, s.middle, s.machines,
           greatest(f.x_low - s.middle_x, s.middle_x - f.x_high) / greatest(s.deviation, f.least) AS score,
           sum(CASE WHEN f.machine IS NULL THEN 0 ELSE 1 END) OVER (PARTITION BY f.kind, f.measure, f.subject) AS beyond
    FROM figures f JOIN scales s ON s.kind = f.kind AND s.measure = f.measure AND s.subject = f.subject
    WHERE f.place = 1 AND s.machines >= 5
      AND greatest(f.x_low - s.middle_x, s.middle_x - f.x_high) > 5.0 * greatest(s.deviation, f.least)
) b
