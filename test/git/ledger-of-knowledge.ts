import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BookedJob, BookingService } from '../rig/booking-service.ts';
import type { Copy } from './working-copy.ts';

/**
 * What the lock of a working copy must know, whatever its form is: a file beside it, of the same shape (a line for each
 * step, in the same order, joined by `merge=union`), in which each run notes what was booked while it ran. Whatever git
 * does to the one it does to the other.
 */
export class Knowledge {
  readonly #copy: Copy;
  readonly #service: BookingService;
  readonly #slots: readonly string[];

  constructor(copy: Copy, service: BookingService, slots: readonly string[]) {
    this.#copy = copy;
    this.#service = service;
    this.#slots = [...slots].sort();
    if (!existsSync(this.#path)) this.#write(new Map());
  }

  get #path(): string {
    return join(this.#copy.folder, 'knowledge.txt');
  }

  /** Bookings that were made by runs whose traces are in this working copy. */
  known(): BookedJob[] {
    const ids = new Set([...this.#read().values()].flatMap((own) => [...own]));
    return this.#service.ledger.filter(({ id }) => ids.has(id));
  }

  note(slotOf: (job: BookedJob) => string, jobs: readonly BookedJob[]): void {
    const known = this.#read();
    for (const job of jobs) {
      const slot = slotOf(job);
      known.set(slot, new Set([...(known.get(slot) ?? []), job.id]));
    }
    this.#write(known);
  }

  #read(): Map<string, Set<string>> {
    const known = new Map<string, Set<string>>();
    const text = existsSync(this.#path) ? readFileSync(this.#path, 'utf8') : '';
    for (const line of text.split('\n')) {
      const [slot = '', ...ids] = line.split(' ');
      if (this.#slots.includes(slot)) known.set(slot, new Set([...(known.get(slot) ?? []), ...ids]));
    }
    return known;
  }

  /** With lines between them that never change, so that a line is joined by itself. */
  #write(known: ReadonlyMap<string, ReadonlySet<string>>): void {
    const between = ['-', '-', '-', '-'];
    const lines = this.#slots.flatMap((slot) => [[slot, ...[...(known.get(slot) ?? [])].sort()].join(' '), ...between]);
    writeFileSync(this.#path, `${lines.join('\n')}\n`);
  }
}
