import type { Outputs, Pictures } from '../contract/ports.ts';
import type { Looks } from '../ground/picture-looks.ts';
import type { Lock, Output } from '../lock/record.ts';
import { firstComers, firstLooks, howTheyCame, SeenPictures } from '../plan/outputs/same-pictures.ts';
import { orderId, type Plan } from '../plan/plan.ts';
import type { DriveOptions } from './driven.ts';

/** Pictures that a run is to keep apart: those that were there before it, and those that it has saved. */
export class RunPictures implements Pictures {
  readonly #plan: Plan;
  readonly #means: { lock: Lock; outputs: Outputs; ends: DriveOptions['ends'] };
  /** By task. */
  readonly #seen = new Map<string, Promise<SeenPictures>>();

  constructor(plan: Plan, means: { lock: Lock; outputs: Outputs; ends: DriveOptions['ends'] }) {
    this.#plan = plan;
    this.#means = means;
  }

  async add({ address, task, outputs }: Parameters<Pictures['add']>[0], looks: Looks): Promise<string | undefined> {
    let seen = this.#seen.get(task);
    if (seen === undefined) {
      seen = this.#seeEarlier(task);
      this.#seen.set(task, seen);
    }
    return (await seen).add(address, looks, howTheyCame(outputs));
  }

  /** Sees what the task had when the run began, what came first before what came second. */
  async #seeEarlier(task: string): Promise<SeenPictures> {
    const { lock, outputs, ends } = this.#means;
    const seen = new SeenPictures();
    const there = this.#plan.rows.flatMap((row) => {
      const isThere = row.order === undefined || ends?.get(orderId(row.order))?.outcome === 'done';
      const newest = row.task === task && isThere ? lock.steps.get(row.address)?.purchases[0] : undefined;
      return newest?.state === 'done' ? [{ address: row.address, files: newest.outputs ?? [] }] : [];
    });
    for (const { address, files } of firstComers(there, ({ files }) => files)) {
      const facts = new Map<Output, Awaited<ReturnType<Outputs['measure']>>>();
      for (const output of files) facts.set(output, await outputs.measure(output, ['looks']));
      const looks = firstLooks(files, (output) => facts.get(output));
      if (looks !== undefined) seen.add(address, looks, howTheyCame(files));
    }
    return seen;
  }
}
