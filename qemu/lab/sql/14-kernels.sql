-- Newest runs of machines whose kernel uses a TSC rate outside of the measured interval. If the TSC is the kernel's clock and
-- nothing corrects it, the kernel's time is too fast by ppm.
SELECT m.run, m.who, m.kernel, m.kernel_clock, m.kernel_tsc_hz AS believed_hz,
       (c.hz_value / m.kernel_tsc_hz - 1.0) * 1000000.0 AS ppm, (c.hz_low / m.kernel_tsc_hz - 1.0) * 1000000.0 AS ppm_low,
       (c.hz_high / m.kernel_tsc_hz - 1.0) * 1000000.0 AS ppm_high
FROM measured m JOIN clocks c ON c.run = m.run
WHERE m.place = 1 AND c.clock = 'tsc' AND m.kernel_tsc_hz > 0.0 AND (m.kernel_tsc_hz < c.hz_low OR m.kernel_tsc_hz > c.hz_high)
