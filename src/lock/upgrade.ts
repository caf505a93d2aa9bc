import { hash } from 'node:crypto';
import type { Json } from '../ground/json.ts';
import { mapOf } from '../ground/values.ts';
import { groupOf } from './join-purchases.ts';
import type { LockLine, Purchase } from './record.ts';
import { mayBeCharged } from './sends.ts';

/**
 * Converts the lines of version 1 to the present format, in file order. In version 1 a create had no id, a job answered
 * every open create of its generation and attempt, a later refusal of the same request stood for a person's decision to
 * buy again, and `forgotten` covered everything up to a generation.
 */
export class LineUpgrade {
  /** Ids assigned to open creates so far, by address and group. */
  readonly #open = new Map<string, string[]>();

  upgrade(line: LockLine, fields: { readonly [field: string]: Json }): LockLine {
    const { earlier, ...newest } = line;
    const all: Purchase[] = [newest, ...(earlier ?? [])];
    const forgotten = forgottenUpTo(fields.decisions);
    const isOld = forgotten > 0 || all.some((one) => mayBeCharged(one) && one.send === undefined);
    const closes = [...(line.closes ?? []), ...all.flatMap((one) => this.#answered(line.address, one))];
    const upgraded = isOld ? all.map((one) => this.#upgradeOne(line.address, one, { all, forgotten })) : all;
    const [first, ...others] = upgraded;
    return {
      ...line,
      ...first,
      ...(earlier !== undefined && { earlier: others }),
      ...(closes.length > 0 && { closes }),
    };
  }

  #upgradeOne(address: string, one: Purchase, from: { all: readonly Purchase[]; forgotten: number }): Purchase {
    const isForgotten = one.generation <= from.forgotten ? { forgotten: true as const } : {};
    if (!mayBeCharged(one) || one.send !== undefined) return { ...one, ...isForgotten };
    const { fingerprint, generation, attempt, key, since, fence } = one;
    const group = `${address} ${groupOf(one)}`;
    const before = this.#open.get(group) ?? [];
    const text = JSON.stringify([fingerprint, generation, attempt, key, since ?? null, fence ?? null]);
    // A create that was resent, because the first one had made nothing, keeps its id.
    const send = (one.resent ? before.at(-1) : undefined) ?? `v1-${hash('sha256', text).slice(0, 16)}`;
    this.#open.set(group, [...before, send]);
    const isWrittenOff = from.all.some(
      (other) => other.state === 'refused' && other.fingerprint === fingerprint && other.generation > generation,
    );
    return { ...one, send, ...isForgotten, ...(isWrittenOff && { writtenOff: true as const }) };
  }

  /**
   * Lists the creates before a job in the file that it answers, as within the lines of one run. A run first records
   * that its job is running, without the time of its send: a job that is first recorded as finished, or with that time,
   * came from a settled lock or another branch, and answers nothing here.
   */
  #answered(address: string, one: Purchase): string[] {
    return one.state === 'running' && one.since === undefined
      ? (this.#open.get(`${address} ${groupOf(one)}`) ?? [])
      : [];
  }
}

function forgottenUpTo(decisions: Json | undefined): number {
  const { forgotten } = mapOf(decisions);
  return typeof forgotten === 'number' && Number.isSafeInteger(forgotten) ? forgotten : 0;
}
