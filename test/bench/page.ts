import { execFileSync } from 'node:child_process';
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

/** The page of the manual with what was measured (`npm run --silent bench -- --markdown`). Times in s, memory in MiB. */
export function pageOfNumbers({ trials, results, starts, goals }: Measured, extra: string[]): string {
  const rows = trials.flatMap((trial) => {
    const summaries = results.get(trial.name) ?? [];
    const of = (tool: Tool) => costOf(summaries.find((summary) => summary.tool === tool));
    return summaries.length === 0 ? [] : [[trial.short, of('mediabatch'), of('naive'), of('limit')]];
  });
  const polled = trials.flatMap((trial) =>
    (results.get(trial.name) ?? [])
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
  return [
    '# Measured numbers',
    'This page shows the time and memory that mediabatch itself needs for a run. A stub on the same machine replaces the service. The stub creates no media, and ends each job after a fixed time.',
    `${tellMachine(extra)} Times are medians in seconds; memory is the peak in MiB. Both differ between machines. Ratios of values measured in one round differ less.`,
    section(
      'Compared with a script',
      '“The script” is a Node script as an engineer writes it in an afternoon: it reads YAML, has a queue, polls every 2 s, and rewrites a JSON file after each change. “Minimum” is a minimal script: it sends only three requests per step, without a durable record, checks, a screen or polling.',
      [['what', 'mediabatch', 'the script', 'minimum'], ...rows],
    ),
    section(
      'Delay until the end of a job is detected',
      '× is the duration of the run divided by the ideal duration, in which each job starts as soon as a slot is free. Polls is the number of poll requests per job, including requests for lists. Delay is the mean time in seconds from the end of a job until the run detects it.',
      [['what', '×', 'polls', 'delay'], ...polled],
    ),
    section('Start', 'Time in ms from the call of a command to its exit, and peak memory in MiB.', [
      ['command', 'ms', 'MiB'],
      ...started,
    ]),
    section(
      'Missed goals',
      `${goals.length - missed.length} of ${goals.length} goals were met. The table lists the missed goals. Wall is the elapsed time, limit is the minimum script, ideal is the ideal duration, and bare node is \`node -e 0\`. The workloads are described in \`test/bench/README.md\`.`,
      [
        ['workload', 'what', 'goal', 'measured'],
        ...missed.map(({ trial, text, most, value }) => [trial, text, `≤ ${most}`, figure(value, 2)]),
      ],
    ),
    `## Before a release\n\n${releaseLine()}`,
    'To measure again, run `npm run --silent bench -- --markdown > src/manual/numbers.md` in a clone of the repository.',
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

/** What `npm run test:release` wrote there. From the commit: a shell has emptied the page before this runs. */
function releaseLine(): string {
  const page = execFileSync('git', ['show', 'HEAD:src/manual/numbers.md'], { encoding: 'utf8' });
  return /^`npm run test:release`.*$/m.exec(page)?.[0] ?? '';
}

/** Nothing where there is nothing to tell but a heading. */
function section(heading: string, text: string, rows: string[][]): string {
  return rows.length === 1 ? `## ${heading}\n\n${text}` : `## ${heading}\n\n${text}\n\n${table(rows)}`;
}

function nameOf(tool: Tool): string {
  if (tool === 'naive') return ', by the script';
  return tool === 'learned' ? ', the second time' : '';
}

function costOf(summary: Summary | undefined): string {
  if (summary === undefined || summary.valid === 0) return '';
  return `${figure(summary.wallMs / 1000, 1)} s, ${figure(summary.maxRssMiB, 0)} MiB`;
}
