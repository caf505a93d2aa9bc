import { hash } from 'node:crypto';
import type { Json } from '../ground/json.ts';
import { mapOf } from '../ground/values.ts';
import { groupOf } from './join-purchases.ts';
import type { LockLine, Purchase } from './record.ts';
import { mayBeCharged } from './sends.ts';

/**
 * Brings the lines of version 1 into the form of this version, in the order of the file. There a create had no id, a job was
 * the answer to every open create of its generation and attempt, a later refusal of the same request stood for a person's
 * decision to buy again, and what was forgotten was all up to a generation.
 */
export class LineUpgrade {
  /** Ids given to open creates so far, by address and group. */
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
    // What was sent once more, because the first one had made nothing, went on under its name.
    const send = (one.resent ? before.at(-1) : undefined) ?? `v1-${hash('sha256', text).slice(0, 16)}`;
    this.#open.set(group, [...before, send]);
    const isWrittenOff = from.all.some(
      (other) => other.state === 'refused' && other.fingerprint === fingerprint && other.generation > generation,
    );
    return { ...one, send, ...isForgotten, ...(isWrittenOff && { writtenOff: true as const }) };
  }

  /**
   * What a job answers of the creates that stand before it in the file, as the lines of one run do. A run tells first that its
   * job is running, without the time of its send: one that is over when it is first told of, or has that time, stood in a
   * settled lock, came from another branch, and answers nothing here.
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
