import { parseArgs } from 'node:util';
import { type Goal, judge } from './goals.ts';
import { writeNumbers } from './page.ts';
import { tableOfGoals, tableOfStart, tableOfTrial } from './print.ts';
import { compilePeers } from './service.ts';
import { judgeStart, measureStart, type Start } from './start.ts';
import { type Results, summarize } from './summary.ts';
import { runTrial } from './trial.ts';
import { listWorkloads } from './workloads.ts';

/** `npm run bench`: measures, and prints tables; the README beside this file says what and how. */
const { values, positionals } = readArguments();
const repetitions = values.reps === undefined ? undefined : Number(values.reps);
const known = [...listWorkloads({ long: true }).keys(), 'W5', 'cluster'].sort();
const unknown = positionals.filter((id) => !known.includes(id));
if (unknown.length > 0) stopUsage(`no workload ${unknown.join(', ')}; there are ${known.join(', ')}`);
if (repetitions !== undefined && !(Number.isInteger(repetitions) && repetitions > 0)) {
  stopUsage('--reps takes a whole number from 1');
}

// The engine takes as long as all the others together, and needs PostgreSQL.
const wanted = positionals.length > 0 ? positionals : known.filter((id) => id !== 'cluster' || values.long);
const notify = (message: string) => void process.stderr.write(`${message}\n`);
const print = (text: string) => void process.stdout.write(`${text}\n\n`);

compilePeers();
const results: Results = new Map();
let starts: Start[] = [];
if (wanted.includes('W5')) {
  starts = await measureStart(repetitions ?? 11);
  print(tableOfStart(starts));
}
const workloads = listWorkloads({ long: values.long, ...(repetitions !== undefined && { repetitions }) });
for (const [id, trials] of workloads) {
  if (!wanted.includes(id)) continue;
  for (const trial of trials) {
    const summaries = summarize(trial, await runTrial(trial, notify));
    results.set(trial.name, summaries);
    print(tableOfTrial(trial, summaries));
  }
}
const onEngine = wanted.includes('cluster')
  ? await (await import('./cluster.ts')).benchCluster({ repetitions: repetitions ?? 3, notify, print })
  : [];
const goals: Goal[] = [...judgeStart(starts), ...judge(results), ...onEngine];
if (goals.length > 0) print(tableOfGoals(goals));
if (values.write) writeNumbers({ trials: [...workloads.values()].flat(), results, starts, goals });

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        reps: { type: 'string' },
        long: { type: 'boolean', default: false },
        write: { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    return stopUsage(error instanceof Error ? error.message : String(error));
  }
}

function stopUsage(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(64);
}
