import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Goal, isMet } from './goals.ts';
import { figure, table, tellMachine } from './print.ts';
import type { Start } from './start.ts';
import type { Results, Summary } from './summary.ts';
import type { Tool, Trial } from './trial.ts';

interface Measured {
  trials: readonly Trial[];
  results: Results;
  starts: readonly Start[];
  goals: readonly Goal[];
}

const file = fileURLToPath(new URL('../../src/manual/numbers.md', import.meta.url));

/** Replaces the figures in the manual's page of numbers (`npm run bench -- --write`). Times in s, memory in MiB. */
export function writeNumbers({ trials, results, starts, goals }: Measured): void {
  const measured = trials.flatMap((trial) => {
    const summaries = results.get(trial.name) ?? [];
    return summaries.length === 0 ? [] : [{ trial, summaries }];
  });
  const costs = measured.map(({ trial, summaries }) => [
    trial.short,
    ...(['mediabatch', 'naive', 'limit'] as const).map((tool) => costOf(summaries.find((one) => one.tool === tool))),
  ]);
  const delays = measured.flatMap(({ trial, summaries }) =>
    summaries
      .filter(({ tool, valid }) => valid > 0 && trial.idealMs !== undefined && tool !== 'limit')
      .map((summary) => [
        `${trial.short}${nameOf(summary.tool)}`,
        `${figure(summary.toIdeal, 2)} ×`,
        figure(summary.readsPerStep, 2),
        figure(summary.detectionMs / 1000, 1),
      ]),
  );
  const started = starts.map(({ command, wallMs, maxRssMiB }) => [
    `\`${command}\``,
    figure(wallMs, 0),
    figure(maxRssMiB, 0),
  ]);
  const missed = goals.filter((goal) => !isMet(goal));
  const missedRows = missed.map(({ trial, text, most, value }) => [trial, text, `≤ ${most}`, figure(value, 2)]);
  const page = readFileSync(file, 'utf8')
    .replace(/^Measured on .*?, loopback\./m, tellMachine())
    .replace(/^\d+ of \d+ goals/m, `${goals.length - missed.length} of ${goals.length} goals`);
  const tables = [
    [['what', 'mediabatch', 'the script', 'minimum'], ...costs],
    [['what', '×', 'polls', 'delay'], ...delays],
    [['command', 'ms', 'MiB'], ...started],
    [['workload', 'what', 'goal', 'measured'], ...missedRows],
  ].map(table);
  writeFileSync(
    file,
    page.replace(/(?:^\|.*\n)+/gm, () => `${tables.shift()}\n`),
  );
}

function nameOf(tool: Tool): string {
  if (tool === 'naive') return ', by the script';
  return tool === 'learned' ? ', the second time' : '';
}

function costOf(summary: Summary | undefined): string {
  if (summary === undefined || summary.valid === 0) return '';
  return `${figure(summary.wallMs / 1000, 1)} s, ${figure(summary.maxRssMiB, 0)} MiB`;
}
