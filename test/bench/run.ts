import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Line, measurePlanning, measureRuns, measureStart } from './scenarios.ts';

/** `npm run bench`: prints a table. With `--check` a goal that is missed ends it with 1. */
const folder = mkdtempSync(join(tmpdir(), 'mediabatch-bench-'));
try {
  const lines = [
    ...(await measureStart(folder)),
    ...(await measurePlanning(folder)),
    ...(await measureRuns(folder, 1000)),
    ...(await measureRuns(folder, 10_000)),
  ];
  process.stdout.write(`${tableOf(lines)}\n`);
  const missed = lines.filter(({ goal }) => goal?.met === false);
  for (const { name } of missed) process.stderr.write(`missed: ${name}\n`);
  if (process.argv.includes('--check') && missed.length > 0) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function tableOf(lines: Line[]): string {
  const rows = lines.map(({ name, sample, ratio, goal }) => [
    name,
    `${(sample.wallMs / 1000).toFixed(2)} s`,
    `${(sample.cpuMs / 1000).toFixed(2)} s`,
    `${Math.round(sample.maxRssMiB)} MiB`,
    ratio === undefined ? '' : `${ratio.value.toFixed(2)} × ${ratio.to}`,
    goal === undefined ? '' : `${goal.text}${goal.met ? '' : ' (missed)'}`,
  ]);
  const head = [`Node ${process.version}, ${cpus().length} cores`, 'wall', 'CPU', 'memory', 'ratio', 'goal'];
  const all = [head, head.map(() => '---'), ...rows];
  return all.map((row) => `| ${row.join(' | ')} |`).join('\n');
}
