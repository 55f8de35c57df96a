-- Figures of each run that are compared within a kind of machine. The columns value, low and high are shown; x, x_low and x_high
-- are compared. least is the smallest deviation of x within a kind that is assumed, because healthy machines differ by this much.
-- A guest's deviations include its host: NTP changes the host's rate by up to 500 ppm, and only the guest's fastest read shows
-- the clock's own cost.
SELECT m.run, m.who, m.machine, m.kind, m.place, 'rate error' AS measure, c.clock AS subject, 'ppm' AS unit,
       c.error_ppm_value AS value, c.error_ppm_low AS low, c.error_ppm_high AS high,
       c.error_ppm_value AS x, c.error_ppm_low AS x_low, c.error_ppm_high AS x_high,
       CASE WHEN m.is_guest THEN 100.0 ELSE 10.0 END AS least
FROM measured m JOIN clocks c ON c.run = m.run
WHERE c.error_ppm_value IS NOT NULL
UNION ALL
-- Reads are compared as logarithms. Five times the lower bound is a factor of two. 10 ns of each read are the cost of the
-- bracket.
SELECT m.run, m.who, m.machine, m.kind, m.place, 'median read', c.clock, 'ns',
       c.p50_ns, coalesce(c.p50_low_ns, c.min_ns), coalesce(c.p50_high_ns, c.max_ns),
       ln(c.p50_ns + 10.0),
       ln(CASE WHEN m.is_guest THEN c.min_ns ELSE coalesce(c.p50_low_ns, c.min_ns) END + 10.0),
       ln(coalesce(c.p50_high_ns, c.max_ns) + 10.0), 0.1387
FROM measured m JOIN clocks c ON c.run = m.run
WHERE c.p50_ns >= 0 AND c.min_ns >= 0 AND coalesce(c.p50_high_ns, c.max_ns) >= 0 AND coalesce(c.p50_low_ns, 0) >= 0
UNION ALL
-- The core whose TSC is proven to differ most from the boot core's TSC. low is the proven difference.
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
-- The uncertainty of a count n is taken as three times its square root.
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
-- Stolen time is a share of the observed time. It has no interval, because reports have no interval of it.
SELECT m.run, m.who, m.machine, m.kind, m.place, 'stolen time', 'machine', '%',
       m.stolen_percent, m.stolen_percent, m.stolen_percent, m.stolen_percent, m.stolen_percent, m.stolen_percent,
       CASE WHEN m.is_guest THEN 10.0 ELSE 1.0 END
FROM measured m
WHERE m.stolen_percent IS NOT NULL
