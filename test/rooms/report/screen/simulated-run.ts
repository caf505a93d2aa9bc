import type { RunEvent, RunFact } from '../../../../src/contract/event.ts';
import { foldEvent } from '../../../../src/report/run/fold-event.ts';
import { nothingPlanned, type PlannedWork } from '../../../../src/report/run/planned-work.ts';
import type { RunTimes } from '../../../../src/report/run/run-time.ts';
import { createRunView } from '../../../../src/report/run/run-view.ts';
import { frameLines } from '../../../../src/report/run/screen-frame.ts';
import { unicodeSigns } from '../../../../src/report/run/screen-look.ts';
import { FrameWriter } from '../../../../src/report/run/screen-output.ts';
import { makeStyle, type Style } from '../../../../src/report/style.ts';
import { VirtualTerminal } from '../../../rig/virtual-terminal.ts';

export interface SimulatedTask {
  id: string;
  kind?: string;
  steps: number;
  /** Of its job. */
  seconds: number;
  credits: number;
  /** Its steps begin when all of that task have ended. */
  after?: string;
  /** Steps that are up to date: the first of them. */
  kept?: number;
  /** Why a step fails. */
  fails?(index: number): string | undefined;
}

const begin = Date.UTC(2026, 10, 22, 9, 0, 0);

/** A run as a service with as many slots would have it. Times are those of the events. */
export function simulateRun(
  tasks: readonly SimulatedTask[],
  { concurrency = 8, budget }: { concurrency?: number; budget?: number } = {},
): { events: RunEvent[]; planned: PlannedWork; beginMs: number } {
  const timed: { ms: number; order: number; fact: RunFact }[] = [];
  const put = (ms: number, fact: RunFact) => timed.push({ ms, order: timed.length, fact });
  const steps = tasks.reduce((sum, task) => sum + task.steps, 0);
  put(0, {
    event: 'run-started',
    version: 1,
    campaign: 'aurora-launch',
    steps,
    concurrency,
    totals: {
      toSpend: 0,
      ceiling: 0,
      knownPrices: 0,
      unknownPrices: 0,
      alreadyPaid: 0,
      held: 0,
      discarded: 0,
      ...(budget !== undefined && { budget }),
    },
    tasks: tasks.map(({ id, kind = 'image', steps }) => ({ id, kind, steps })),
  });
  const slots = new Array<number>(concurrency).fill(1000);
  const ends = new Map<string, number>();
  for (const task of tasks) {
    const notBefore = task.after === undefined ? 0 : (ends.get(task.after) ?? 0);
    for (let index = 0; index < task.steps; index += 1) {
      const slot = slots.indexOf(Math.min(...slots));
      const start = Math.max(slots[slot] ?? 0, notBefore);
      const end = playStep({ task, index, start }, put);
      if (index >= (task.kept ?? 0)) slots[slot] = end;
      ends.set(task.id, Math.max(ends.get(task.id) ?? 0, end));
    }
  }
  timed.sort((a, b) => a.ms - b.ms || a.order - b.order);
  return { events: withMoney(timed, budget ?? null), planned: planOf(tasks), beginMs: begin };
}

function playStep(
  { task, index, start }: { task: SimulatedTask; index: number; start: number },
  put: (ms: number, fact: RunFact) => void,
): number {
  const { id, kind = 'image', credits } = task;
  const address = addressOf(task, index);
  if (index < (task.kept ?? 0)) {
    put(1, { event: 'step-left', address, task: id, kind, action: 'keep', reason: 'up to date' });
    return start;
  }
  const jobId = `job-${address}`;
  // Jobs of a kind take about as long, and never the same time.
  const doneAt = start + task.seconds * 1000 * (0.6 + ((index * 37) % 80) / 100);
  put(start, { event: 'step-started', address, task: id, kind, action: 'create' });
  put(start, { event: 'create-intended', address, key: `mb1-${address}`, reserved: credits });
  put(start + 200, { event: 'job-created', address, jobId, credits, balance: null });
  put(start + 600, { event: 'job-progressed', address, jobId, status: 'PROCESSING' });
  const error = task.fails?.(index);
  if (error !== undefined) {
    put(doneAt, { event: 'step-finished', address, task: id, outcome: 'failed', credits, error });
    return doneAt;
  }
  put(doneAt, { event: 'job-completed', address, jobId });
  const output = { path: `${id}/${index}.png`, sha256: '3b'.repeat(32), bytes: 1_234_567, type: 'image/png' };
  put(doneAt + 1500, { event: 'output-saved', address, output, how: 'downloaded' });
  put(doneAt + 1500, { event: 'step-finished', address, task: id, outcome: 'done', credits });
  return doneAt;
}

function addressOf({ id, steps }: SimulatedTask, index: number): string {
  return steps === 1 ? id : `${id}@r${index + 1}`;
}

/** Adds what the ledger says after each create. */
function withMoney(timed: readonly { ms: number; fact: RunFact }[], budget: number | null): RunEvent[] {
  let [spent, held] = [0, 0];
  return timed.flatMap(({ ms, fact }): RunEvent[] => {
    const at = new Date(begin + ms).toISOString();
    if (fact.event === 'create-intended') held += fact.reserved ?? 0;
    else if (fact.event === 'job-created') {
      held -= fact.credits ?? 0;
      spent += fact.credits ?? 0;
    } else return [{ at, ...fact }];
    return [
      { at, ...fact },
      { at, event: 'credits-changed', spentNow: spent, spentEver: spent, held, budget, balance: null },
    ];
  });
}

function planOf(tasks: readonly SimulatedTask[]): PlannedWork {
  const total = tasks.reduce((sum, { steps }) => sum + steps, 0);
  return {
    steps:
      total > 60
        ? []
        : tasks.flatMap((task) =>
            Array.from({ length: task.steps }, (_, index) => ({
              address: addressOf(task, index),
              task: task.id,
              credits: task.credits,
              needs: task.after === undefined ? [] : [`${task.after}@r${(index % 2) + 1}`],
            })),
          ),
    tasks: new Map(
      tasks.map(({ id, steps, kept = 0, credits, after }) => [
        id,
        { credits: (steps - kept) * credits, isAbout: false, needs: after === undefined ? [] : [after] },
      ]),
    ),
  };
}

/** Watches a run on a terminal in memory, at the times that are asked for. */
export class Viewer {
  readonly view = createRunView();
  readonly terminal: VirtualTerminal;
  readonly #run: ReturnType<typeof simulateRun>;
  readonly #writer: FrameWriter;
  readonly #style: Style;
  readonly #times: RunTimes;
  readonly #page: string | undefined;
  #next = 0;
  #frame = 0;
  #nowMs = 0;

  constructor(
    run: ReturnType<typeof simulateRun>,
    options: { columns: number; rows: number; color?: boolean; times?: RunTimes; page?: string },
  ) {
    this.#run = run;
    this.terminal = new VirtualTerminal(options.columns, options.rows);
    this.#writer = new FrameWriter(this.terminal);
    this.#style = makeStyle(options.color === true);
    this.#times = options.times ?? {};
    this.#page = options.page;
  }

  /** Folds what happens until that second of the run. */
  goTo(second: number): this {
    this.#nowMs = second * 1000;
    for (; ; this.#next += 1) {
      const event = this.#run.events[this.#next];
      if (event === undefined || Date.parse(event.at) > begin + this.#nowMs) return this;
      this.note(event);
    }
  }

  note(...events: RunEvent[]): this {
    for (const event of events) foldEvent(this.view, event);
    return this;
  }

  /** Something that happens now. */
  happens(...facts: RunFact[]): this {
    const at = new Date(begin + this.#nowMs).toISOString();
    return this.note(...facts.map((fact) => ({ at, ...fact })));
  }

  draw(above: readonly string[] = [], isOver = false): this {
    this.#writer.draw(this.lines(isOver), above);
    this.#frame += 1;
    return this;
  }

  lines(isOver = false): string[] {
    return this.linesAt(this.terminal, isOver);
  }

  linesAt({ columns, rows }: { columns: number; rows: number }, isOver = false): string[] {
    return frameLines(this.view, {
      columns,
      rows: rows - 1,
      style: this.#style,
      signs: unicodeSigns,
      now: begin + this.#nowMs,
      startedAt: begin,
      frame: this.#frame,
      planned: this.#run.planned ?? nothingPlanned,
      times: this.#times,
      page: this.#page,
      isOver,
    });
  }
}
