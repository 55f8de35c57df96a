-- The median of a kind: of the newest run of each machine that is known, or many runs of one would count as many machines.
SELECT kind, measure, subject, count(*) AS machines,
       percentile_cont(0.5) WITHIN GROUP (ORDER BY x) AS middle_x,
       percentile_cont(0.5) WITHIN GROUP (ORDER BY value) AS middle
FROM figures
WHERE place = 1 AND machine IS NOT NULL AND kind IS NOT NULL
GROUP BY kind, measure, subject
