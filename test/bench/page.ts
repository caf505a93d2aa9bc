import { type Goal, isMet, type Results } from './goals.ts';
import { figure, table, tellMachine } from './print.ts';
import type { Start } from './start.ts';
import type { Summary } from './summary.ts';
import type { Tool, Trial } from './trial.ts';

export interface Measured {
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
      .filter(({ tool, valid }) => valid > 0 && trial.idealMs !== undefined && tool !== 'limit' && tool !== 'floor')
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
    'What a run takes beside the time of the service itself. The service is a stand-in on the same machine: it makes nothing, and a job is done after the time that is said.',
    `${tellMachine(extra)} Times are medians, in seconds, with the most memory that was taken, in MiB. They differ from machine to machine; ratios of what ran side by side differ less.`,
    section(
      'Beside a script',
      'The script is what a careful person writes in an afternoon: YAML, a queue, a look every 2 s, a JSON file that is written after each change. The least is three requests for each step and nothing else: no record that outlives a kill, no checks, no screen, no polling.',
      [['what', 'mediabatch', 'the script', 'the least'], ...rows],
    ),
    section(
      'How soon an end is seen',
      '× is the makespan beside that of the jobs alone, each begun as soon as there is a place; looks are reads for each job, lists included; late is how long after its end a job was seen to be done, on average, in seconds.',
      [['what', '×', 'looks', 'late'], ...polled],
    ),
    section('Start', 'From the call to its end, in ms.', [['command', 'ms', 'MiB'], ...started]),
    section(
      'Goals that were missed',
      `${goals.length - missed.length} of ${goals.length} goals were met. W1 to W7 and the others are described in \`test/bench/README.md\`.`,
      [
        ['workload', 'what', 'goal', 'measured'],
        ...missed.map(({ trial, text, most, value }) => [trial, text, `≤ ${most}`, figure(value, 2)]),
      ],
    ),
    'Measured again by `npm run --silent bench -- --markdown > src/manual/numbers.md`, in a clone.',
  ]
    .filter((part) => part !== '')
    .join('\n\n');
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
