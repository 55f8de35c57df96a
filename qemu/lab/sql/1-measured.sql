-- Every run that was done. A machine that is not known is nobody else: each of its runs stands for itself.
SELECT r.*, coalesce(r.machine, r.run) AS who,
       r.hypervisor IS NOT NULL OR r.accelerator IS NOT NULL AS is_guest,
       row_number() OVER (PARTITION BY coalesce(r.machine, r.run)
                          ORDER BY r.started_at DESC NULLS LAST, CASE WHEN r.cpu IS NULL THEN 1 ELSE 0 END,
                                   r.loaded_at DESC, r.run) AS place,
       count(*) OVER (PARTITION BY coalesce(r.machine, r.run)) AS runs_of_it
FROM runs r
WHERE r.reason IS NULL
