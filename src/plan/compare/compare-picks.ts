import { groupBy } from '../../ground/values.ts';
import { mostNote, mostReason } from '../../lock/decisions.ts';
import type { Situation } from '../situation/situation.ts';

/** Decision of one reviewer about one output. `job`: the reviewed job. */
export interface Opinion {
  by: string;
  address: string;
  is: 'picked' | 'rejected';
  note?: string;
  reason?: string;
  job?: string;
}

/** Outputs on which reviewers agree, and on which they differ: `text` lists their decisions. */
interface Compared {
  agreed: { address: string; is: 'picked' | 'rejected'; note?: string; reason?: string; by: string }[];
  differing: { address: string; text: string }[];
}

/**
 * Compares the verdicts of several reviewers. They agree at a gate when all who pick there pick the same outputs and
 * none of them rejects one; otherwise no verdict at that gate is adopted. Reviewers without a verdict at a gate do not
 * count there.
 */
export function comparePicks(opinions: readonly Opinion[], gateOf: Situation['gateOf']): Compared {
  const compared: Compared = { agreed: [], differing: [] };
  for (const ofGate of groupBy(opinions, ({ address }) => gateOf.get(address)?.name ?? `step ${address}`).values()) {
    const picks = [
      ...groupBy(
        ofGate.filter(({ is }) => is === 'picked'),
        ({ by }) => by,
      ).values(),
    ];
    const sets = new Set(picks.map((own) => [...new Set(own.map(({ address }) => address))].sort().join('\n')));
    const byAddress = [...groupBy(ofGate, ({ address }) => address)];
    const isMixed = byAddress.some(([, all]) => new Set(all.map(({ is }) => is)).size > 1);
    if (sets.size <= 1 && !isMixed) {
      for (const [address, all] of byAddress) compared.agreed.push(joinOpinions(address, all));
      continue;
    }
    for (const [address, all] of byAddress) {
      const says = all.map(({ by, is, note }) => `${by}: ${is}${note === undefined ? '' : ` (${note})`}`);
      compared.differing.push({ address, text: `the reviewers disagree, so the group stays open: ${says.join('; ')}` });
    }
  }
  return compared;
}

function joinOpinions(address: string, all: readonly Opinion[]): Compared['agreed'][number] {
  const is = all.every((one) => one.is === 'picked') ? 'picked' : 'rejected';
  const notes = all.flatMap(({ by, note }) => (note === undefined ? [] : [all.length === 1 ? note : `${by}: ${note}`]));
  const note = joined(notes, '; ', mostNote);
  const reason = joined(
    all.flatMap((one) => one.reason ?? []),
    ', ',
    mostReason,
  );
  const names = all.map(({ by }) => by);
  return { address, is, ...(note && { note }), ...(reason && { reason }), by: joined(names, ', ', mostReason) };
}

function joined(texts: readonly string[], between: string, most: number): string {
  return [...new Set(texts)]
    .join(between)
    .slice(0, most)
    .replace(/\p{Cs}$/u, '');
}
