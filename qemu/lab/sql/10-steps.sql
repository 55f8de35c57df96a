-- Pairs of successive runs of a machine between which the version of its BIOS or hypervisor changed. The CPU, the version of
-- baretick and the duration are the same in both runs, so no other change is known. Runs with wrong dates have no order and are
-- left out.
SELECT s.machine, concat(coalesce(s.vendor, '-'), ' / ', coalesce(s.product, '-')) AS product, s.run, s.before_run,
       CASE WHEN s.bios <> s.before_bios THEN 'BIOS' ELSE 'hypervisor' END AS what,
       CASE WHEN s.bios <> s.before_bios THEN s.before_bios ELSE s.before_host END AS before,
       CASE WHEN s.bios <> s.before_bios THEN s.bios ELSE s.host END AS now
FROM (
    SELECT m.machine, m.vendor, m.product, m.run, m.cpu, m.bios, concat(coalesce(m.hypervisor, '-'), ', ', coalesce(m.host, '-')) AS host,
           m.tool_commit, m.accelerator, m.profile,
           lag(m.run) OVER w AS before_run, lag(m.bios) OVER w AS before_bios, lag(m.cpu) OVER w AS before_cpu,
           lag(concat(coalesce(m.hypervisor, '-'), ', ', coalesce(m.host, '-'))) OVER w AS before_host,
           lag(m.tool_commit) OVER w AS before_commit, lag(m.accelerator) OVER w AS before_accelerator,
           lag(m.profile) OVER w AS before_profile
    FROM measured m
    WHERE m.machine IS NOT NULL AND m.started_at IS NOT NULL AND m.cpu IS NOT NULL AND NOT m.misdated
    WINDOW w AS (PARTITION BY m.machine ORDER BY m.started_at, m.loaded_at, m.run)
) s
WHERE s.cpu = s.before_cpu AND s.tool_commit = s.before_commit
  AND coalesce(s.accelerator, '-') = coalesce(s.before_accelerator, '-') AND coalesce(s.profile, '-') = coalesce(s.before_profile, '-')
  AND (s.bios <> s.before_bios AND s.host = s.before_host OR s.bios = s.before_bios AND s.host <> s.before_host)
