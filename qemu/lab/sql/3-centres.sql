-- The median of each kind. Only the newest run of each known machine counts. Otherwise many runs of one machine would count as
-- many machines.
SELECT kind, measure, subject, count(*) AS machines,
       percentile_cont(0.5) WITHIN GROUP (ORDER BY x) AS middle_x,
       percentile_cont(0.5) WITHIN GROUP (ORDER BY value) AS middle
FROM figures
WHERE place = 1 AND machine IS NOT NULL AND kind IS NOT NULL
GROUP BY kind, measure, subject
