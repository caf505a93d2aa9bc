const { writeFileSync } = require('node:fs');

/**
 * Loaded into a measured process: what it used is written down when it ends. CommonJS, because loading a module by
 * `--import` would start the machinery that start-up is measured by.
 */
process.once('exit', () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  const file = process.env.BENCH_USAGE_FILE;
  if (file)
    writeFileSync(file, JSON.stringify({ cpuMs: (userCPUTime + systemCPUTime) / 1000, maxRssMiB: maxRSS / 1024 }));
});
