-- What a run measured, as figures that can be set beside those of its kind: value, low and high as they are shown; x, x_low
-- and x_high as they are compared; least: the spread of x that a healthy kind is granted, however alike its machines are.
-- A guest is granted its host's: time that NTP slews by up to 500 ppm, reads of which only the fastest is the clock's own.
SELECT m.run, m.who, m.machine, m.kind, m.place, 'rate error' AS measure, c.clock AS subject, 'ppm' AS unit,
       c.error_ppm_value AS value, c.error_ppm_low AS low, c.error_ppm_high AS high,
       c.error_ppm_value AS x, c.error_ppm_low AS x_low, c.error_ppm_high AS x_high,
       CASE WHEN m.is_guest THEN 100.0 ELSE 10.0 END AS least
FROM measured m JOIN clocks c ON c.run = m.run
WHERE c.error_ppm_value IS NOT NULL
UNION ALL
-- In logarithms: five times the least spread is a factor of two, of which 10 ns are the bracket's own.
SELECT m.run, m.who, m.machine, m.kind, m.place, 'median read', c.clock, 'ns',
       c.p50_ns, coalesce(c.p50_low_ns, c.min_ns), coalesce(c.p50_high_ns, c.max_ns),
       ln(c.p50_ns + 10.0),
       ln(CASE WHEN m.is_guest THEN c.min_ns ELSE coalesce(c.p50_low_ns, c.min_ns) END + 10.0),
       ln(coalesce(c.p50_high_ns, c.max_ns) + 10.0), 0.1387
FROM measured m JOIN clocks c ON c.run = m.run
WHERE c.p50_ns >= 0 AND c.min_ns >= 0 AND coalesce(c.p50_high_ns, c.max_ns) >= 0 AND coalesce(c.p50_low_ns, 0) >= 0
UNION ALL
-- The core whose TSC is furthest from the boot core's: proven to be at least low away.
SELECT m.run, m.who, m.machine, m.kind, m.place, 'core offset', 'tsc', 'ns',
       max(abs(c.offset_ns_value)), max(greatest(c.offset_ns_low, -c.offset_ns_high, 0.0)),
       max(greatest(abs(c.offset_ns_low), abs(c.offset_ns_high))),
       max(abs(c.offset_ns_value)), max(greatest(c.offset_ns_low, -c.offset_ns_high, 0.0)),
       max(greatest(abs(c.offset_ns_low), abs(c.offset_ns_high))), 50.0
FROM measured m JOIN cores c ON c.run = m.run
WHERE c.offset_ns_value IS NOT NULL
GROUP BY m.run, m.who, m.machine, m.kind, m.place
UNION ALL
SELECT m.run, m.who, m.machine, m.kind, m.place, 'core drift', 'tsc', 'ppm',
       max(abs(c.drift_ppm_value)), max(greatest(c.drift_ppm_low, -c.drift_ppm_high, 0.0)),
       max(greatest(abs(c.drift_ppm_low), abs(c.drift_ppm_high))),
       max(abs(c.drift_ppm_value)), max(greatest(c.drift_ppm_low, -c.drift_ppm_high, 0.0)),
       max(greatest(abs(c.drift_ppm_low), abs(c.drift_ppm_high))), 0.1
FROM measured m JOIN cores c ON c.run = m.run
WHERE c.drift_ppm_value IS NOT NULL
GROUP BY m.run, m.who, m.machine, m.kind, m.place
UNION ALL
-- A count of n is known to three times its square root.
SELECT m.run, m.who, m.machine, m.kind, m.place, 'SMIs', 'machine', 'a second',
       m.smi_count * 1000.0 / m.elapsed_ms,
       greatest(m.smi_count - 3.0 * sqrt(m.smi_count), 0.0) * 1000.0 / m.elapsed_ms,
       (m.smi_count + 3.0 * sqrt(m.smi_count + 1.0)) * 1000.0 / m.elapsed_ms,
       m.smi_count * 1000.0 / m.elapsed_ms,
       greatest(m.smi_count - 3.0 * sqrt(m.smi_count), 0.0) * 1000.0 / m.elapsed_ms,
       (m.smi_count + 3.0 * sqrt(m.smi_count + 1.0)) * 1000.0 / m.elapsed_ms, 0.2
FROM measured m
WHERE m.smi_count >= 0 AND m.elapsed_ms > 0
UNION ALL
-- Of the time that was observed: no more is said of it, so it has no interval.
SELECT m.run, m.who, m.machine, m.kind, m.place, 'stolen time', 'machine', '%',
       m.stolen_percent, m.stolen_percent, m.stolen_percent, m.stolen_percent, m.stolen_percent, m.stolen_percent,
       CASE WHEN m.is_guest THEN 10.0 ELSE 1.0 END
FROM measured m
WHERE m.stolen_percent IS NOT NULL
