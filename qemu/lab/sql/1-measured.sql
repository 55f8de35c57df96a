-- Every completed run. Each run of an unknown machine counts as a machine of its own. The date is from the machine's RTC. The
-- date is wrong if it is before the first release of baretick or after the time at which the report was read. The time of reading
-- then replaces it. If several reports were read together, the last one by file name counts as the newest.
SELECT r.*, coalesce(r.machine, r.run) AS who,
       r.hypervisor IS NOT NULL OR r.accelerator IS NOT NULL AS is_guest,
       row_number() OVER (PARTITION BY coalesce(r.machine, r.run)
                          ORDER BY r.moment DESC NULLS LAST, CASE WHEN r.cpu IS NULL THEN 1 ELSE 0 END,
                                   r.loaded_at DESC, r.source DESC, r.run) AS place,
       count(*) OVER (PARTITION BY coalesce(r.machine, r.run)) AS runs_of_it
FROM (
    SELECT d.*, CASE WHEN d.misdated THEN d.loaded_at ELSE d.started_at END AS moment
    FROM (
        SELECT runs.*, coalesce(started_at < CAST('2024-01-01' AS TIMESTAMP) OR started_at > loaded_at + INTERVAL 1 DAYS, FALSE)
                       AS misdated
        FROM runs WHERE reason IS NULL
    ) d
) r
