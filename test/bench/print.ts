import { cpus } from 'node:os';
import { type Goal, isMet } from './goals.ts';
import type { Start } from './start.ts';
import type { Summary } from './summary.ts';
import type { Trial } from './trial.ts';

export function tellMachine(): string {
  return `Measured on ${new Date().toISOString().slice(0, 10)}, ${cpus().length} shared cores, Node ${process.version}, loopback.`;
}

export function tableOfTrial(trial: Trial, summaries: Summary[]): string {
  const ideal = trial.idealMs === undefined ? '' : `; ideal ${(trial.idealMs / 1000).toFixed(2)} s`;
  const rows = summaries.map((summary) => [
    summary.tool === 'learned' ? 'mediabatch, second time' : summary.tool,
    seconds(summary.wallMs),
    seconds(summary.cpuMs),
    figure(summary.maxRssMiB, 0),
    figure(summary.readsPerStep, 2),
    figure(summary.detectionMs, 0),
    figure(summary.toIdeal, 2),
    pair(summary.toLimit),
    pair(summary.toNaive),
    summary.invalid.length === 0 ? String(summary.valid) : `${summary.valid}, INVALID: ${summary.invalid[0]}`,
  ]);
  const head = [
    ...['tool', 'wall s', 'CPU s', 'MiB', 'reads/step', 'seen after ms', '× ideal'],
    ...['wall, CPU × limit', 'wall, CPU × naive', 'runs'],
  ];
  return `${trial.name}: ${trial.title}${ideal}\n\n${table([head, ...rows])}`;
}

export function tableOfStart(starts: Start[]): string {
  const rows = starts.map(({ command, wallMs, cpuMs, maxRssMiB, toNode }) => [
    command,
    figure(wallMs, 0),
    figure(cpuMs, 0),
    figure(maxRssMiB, 0),
    figure(toNode, 2),
  ]);
  return `W5: start-up\n\n${table([['command', 'wall ms', 'CPU ms', 'MiB', 'wall × bare node'], ...rows])}`;
}

export function tableOfGoals(goals: Goal[]): string {
  const rows = goals.map((goal) => [
    goal.trial,
    goal.text,
    `≤ ${goal.most}`,
    Number.isNaN(goal.value) ? 'not measured' : String(Number(goal.value.toPrecision(3))),
    isMet(goal) ? 'met' : 'missed',
  ]);
  return `Goals\n\n${table([['workload', 'what', 'goal', 'measured', ''], ...rows])}`;
}

export function table([head = [], ...rows]: string[][]): string {
  const widths = head.map((_, column) => Math.max(3, ...[head, ...rows].map((row) => (row[column] ?? '').length)));
  const line = (row: string[]) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
}

function seconds(ms: number): string {
  return figure(ms / 1000, 2);
}

function pair({ wall, cpu }: { wall: number; cpu: number }): string {
  return Number.isNaN(wall) ? '' : `${wall.toFixed(2)}, ${cpu.toFixed(2)}`;
}

export function figure(value: number, digits: number): string {
  return Number.isFinite(value) ? value.toFixed(digits) : '';
}
