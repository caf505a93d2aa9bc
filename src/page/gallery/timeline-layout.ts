import type { ReportSpan, ReportTimeline } from '../../contract/report.ts';

/** A phase of a job, as parts of the time that the timeline shows, 0 to 1. */
export interface Bar {
  is: 'queue' | 'run' | 'save';
  from: number;
  to: number;
}

/** From when to when a timeline goes, in ms; at least a millisecond. */
export function rangeOf({ started, ended, spans }: ReportTimeline): { from: number; to: number } {
  let [from, to] = [started, ended ?? started];
  for (const span of spans) {
    for (const time of [span.sent, span.job, span.finished, span.saved]) {
      if (time === undefined) continue;
      from = Math.min(from, time);
      to = Math.max(to, time);
    }
  }
  return { from, to: Math.max(to, from + 1) };
}

/** When a job began and ended; one that has not ended lasts until `to`. Undefined: nobody saw anything of it. */
export function lengthOf(span: ReportSpan, to: number): { from: number; to: number } | undefined {
  const from = span.sent ?? span.job ?? span.finished ?? span.saved;
  if (from === undefined) return undefined;
  const last = span.saved ?? span.finished;
  const ended = last ?? (span.end === 'open' || span.end === 'unresolved' ? to : (span.job ?? from));
  return { from, to: Math.max(from, ended) };
}

export function barsOf(span: ReportSpan, range: { from: number; to: number }): Bar[] {
  const length = lengthOf(span, range.to);
  if (length === undefined) return [];
  const part = (time: number) => (time - range.from) / (range.to - range.from);
  const { sent, job, finished, saved } = span;
  const bars: Bar[] = [];
  const add = (is: Bar['is'], from: number | undefined, to: number) => {
    if (from !== undefined && to > from) bars.push({ is, from: part(from), to: part(to) });
  };
  add('queue', sent, job ?? finished ?? length.to);
  add('run', job, finished ?? length.to);
  add('save', finished, saved ?? finished ?? length.to);
  return bars;
}

/** How many jobs were under way at most in each of `count` equal stretches of the range. */
export function concurrency(
  spans: readonly ReportSpan[],
  range: { from: number; to: number },
  count: number,
): number[] {
  const changes: { at: number; by: 1 | -1 }[] = [];
  for (const span of spans) {
    const length = lengthOf(span, range.to);
    if (length === undefined || length.to === length.from) continue;
    changes.push({ at: length.from, by: 1 }, { at: length.to, by: -1 });
  }
  // One that ends at the moment at which another begins makes room for it.
  changes.sort((a, b) => a.at - b.at || a.by - b.by);
  const most = new Array<number>(count).fill(0);
  const step = (range.to - range.from) / count;
  let [now, next] = [0, 0];
  for (let index = 0; index < count; index += 1) {
    const start = range.from + step * index;
    for (let change = changes[next]; change !== undefined && change.at < start + step; change = changes[next]) {
      if (change.at > start) most[index] = Math.max(most[index] ?? 0, now);
      now += change.by;
      next += 1;
    }
    most[index] = Math.max(most[index] ?? 0, now);
  }
  return most;
}

export function orderSpans(spans: readonly ReportSpan[], order: string, to: number): readonly ReportSpan[] {
  const length = (span: ReportSpan) => {
    const own = lengthOf(span, to);
    return own === undefined ? 0 : own.to - own.from;
  };
  switch (order) {
    case 'task':
      return [...spans].sort((a, b) => (a.task < b.task ? -1 : a.task > b.task ? 1 : 0));
    case 'longest':
      return [...spans].sort((a, b) => length(b) - length(a));
    case 'failed':
      return [...spans].sort((a, b) => Number(a.end === 'done') - Number(b.end === 'done'));
    default:
      return spans;
  }
}

/** Times for an axis: at most `most` of them, at even distances from the start, in ms. */
export function ticksOf(milliseconds: number, most: number): number[] {
  const seconds = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 28_800, 86_400];
  const step = (seconds.find((one) => milliseconds / (one * 1000) <= most) ?? 604_800) * 1000;
  const ticks: number[] = [];
  for (let time = 0; time <= milliseconds && ticks.length <= most; time += step) ticks.push(time);
  return ticks;
}

/** `4.2 s`, `3 min 20 s`, `2 h 5 min`. */
export function lasting(milliseconds: number): string {
  const exact = milliseconds / 1000;
  if (exact < 9.95) return `${exact.toFixed(1)} s`;
  const seconds = Math.round(exact);
  const parts = [
    [Math.floor(seconds / 3600), 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ] as const;
  const first = parts.findIndex(([count]) => count > 0);
  const said = parts.slice(first, first + 2).filter(([count]) => count > 0);
  return said.map(([count, unit]) => `${count} ${unit}`).join(' ');
}
