-- Differences in the second run of a pair. A figure has changed if the intervals of both runs exclude "no change". A rate must
-- change by 50 ppm. In a guest it must change by 500 ppm, because NTP corrects the host's clock. A read has changed if the
-- fastest read now takes twice the old median. Figures are cast to decimals, because engines write floating-point numbers
-- differently.
SELECT p.span, p.who, p.run, 'verdict' AS what, 'machine' AS subject, o.verdict AS before, n.verdict AS now
FROM pairs p JOIN measured n ON n.run = p.run JOIN measured o ON o.run = p.before_run
WHERE n.verdict <> o.verdict
UNION ALL
SELECT p.span, p.who, p.run, 'BIOS', 'machine', coalesce(o.bios, '-'), coalesce(n.bios, '-')
FROM pairs p JOIN measured n ON n.run = p.run JOIN measured o ON o.run = p.before_run
WHERE coalesce(n.bios, '-') <> coalesce(o.bios, '-')
UNION ALL
SELECT p.span, p.who, p.run, 'microcode', 'machine', CAST(o.microcode AS VARCHAR(20)), CAST(n.microcode AS VARCHAR(20))
FROM pairs p JOIN measured n ON n.run = p.run JOIN measured o ON o.run = p.before_run
WHERE n.microcode <> o.microcode
UNION ALL
SELECT p.span, p.who, p.run, 'hypervisor', 'machine', concat(coalesce(o.hypervisor, '-'), ' ', coalesce(o.host, '-')),
       concat(coalesce(n.hypervisor, '-'), ' ', coalesce(n.host, '-'))
FROM pairs p JOIN measured n ON n.run = p.run JOIN measured o ON o.run = p.before_run
WHERE concat(coalesce(n.hypervisor, '-'), ' ', coalesce(n.host, '-'))
   <> concat(coalesce(o.hypervisor, '-'), ' ', coalesce(o.host, '-')) AND n.cpu IS NOT NULL AND o.cpu IS NOT NULL
UNION ALL
SELECT p.span, p.who, p.run, 'cores started', 'machine', CAST(o.cores_started AS VARCHAR(20)), CAST(n.cores_started AS VARCHAR(20))
FROM pairs p JOIN measured n ON n.run = p.run JOIN measured o ON o.run = p.before_run
WHERE n.cores_started <> o.cores_started AND coalesce(n.cores_by, '-') = coalesce(o.cores_by, '-')
  AND coalesce(n.cores_max, -1) = coalesce(o.cores_max, -1)
UNION ALL
SELECT p.span, p.who, p.run, 'state', n.clock, o.state, n.state
FROM pairs p JOIN clocks n ON n.run = p.run JOIN clocks o ON o.run = p.before_run AND o.clock = n.clock
WHERE n.state <> o.state
UNION ALL
SELECT p.span, p.who, p.run, 'rate error', n.clock, CAST(CAST(o.error_ppm_value AS DECIMAL(38, 6)) AS VARCHAR(40)),
       CAST(CAST(n.error_ppm_value AS DECIMAL(38, 6)) AS VARCHAR(40))
FROM pairs p JOIN clocks n ON n.run = p.run JOIN clocks o ON o.run = p.before_run AND o.clock = n.clock
     JOIN measured m ON m.run = p.run
WHERE greatest(n.error_ppm_low - o.error_ppm_high, o.error_ppm_low - n.error_ppm_high)
    > CASE WHEN m.is_guest THEN 500.0 ELSE 50.0 END
UNION ALL
SELECT p.span, p.who, p.run, 'median read', n.clock, CAST(CAST(o.p50_ns AS DECIMAL(38, 6)) AS VARCHAR(40)),
       CAST(CAST(n.p50_ns AS DECIMAL(38, 6)) AS VARCHAR(40))
FROM pairs p JOIN clocks n ON n.run = p.run JOIN clocks o ON o.run = p.before_run AND o.clock = n.clock
     JOIN measured m ON m.run = p.run JOIN measured w ON w.run = p.before_run
WHERE (n.min_ns > 2.0 * o.p50_ns + 10.0 OR o.min_ns > 2.0 * n.p50_ns + 10.0)
  AND coalesce(m.hypervisor, '-') = coalesce(w.hypervisor, '-') AND coalesce(m.accelerator, '-') = coalesce(w.accelerator, '-')
UNION ALL
SELECT p.span, p.who, p.run, 'new finding', coalesce(n.clock, 'machine'), '-', n.rule
FROM pairs p JOIN findings n ON n.run = p.run
     LEFT JOIN findings o ON o.run = p.before_run AND o.rule = n.rule AND coalesce(o.clock, '-') = coalesce(n.clock, '-')
WHERE o.run IS NULL
GROUP BY p.span, p.who, p.run, n.clock, n.rule
UNION ALL
SELECT p.span, p.who, p.run, 'finding gone', coalesce(o.clock, 'machine'), o.rule, '-'
FROM pairs p JOIN findings o ON o.run = p.before_run
     LEFT JOIN findings n ON n.run = p.run AND o.rule = n.rule AND coalesce(o.clock, '-') = coalesce(n.clock, '-')
WHERE n.run IS NULL
GROUP BY p.span, p.who, p.run, o.clock, o.rule
