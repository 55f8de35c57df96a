-- Properties that differ from the properties of nine in ten machines of the kind. The kind must have five machines or more. If it
-- has fewer than ten, all other machines must agree.
SELECT t.run, t.who, t.machine, t.kind, t.measure, t.subject, t.value, most.value AS usual, most.machines AS machines_so,
       most.every AS machines, CAST(most.machines AS DOUBLE) / greatest(coalesce(own.machines, 1), 1) AS score
FROM traits t
JOIN (
    SELECT kind, measure, subject, value, count(*) AS machines,
           sum(count(*)) OVER (PARTITION BY kind, measure, subject) AS every,
           row_number() OVER (PARTITION BY kind, measure, subject ORDER BY count(*) DESC, value) AS place
    FROM traits WHERE machine IS NOT NULL
    GROUP BY kind, measure, subject, value
) most ON most.kind = t.kind AND most.measure = t.measure AND most.subject = t.subject AND most.place = 1
LEFT JOIN (
    SELECT kind, measure, subject, value, count(*) AS machines
    FROM traits WHERE machine IS NOT NULL
    GROUP BY kind, measure, subject, value
) own ON own.kind = t.kind AND own.measure = t.measure AND own.subject = t.subject AND own.value = t.value
WHERE t.value <> most.value AND most.every >= 5
  AND (most.machines >= 0.9 * most.every OR most.machines >= most.every - 1)
