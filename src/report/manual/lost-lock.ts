import { kinds } from '../../kinds/index.ts';
import type { Kind } from '../../kinds/kind.ts';
import { table } from './markdown.ts';

/**
 * Outcome for a purchase whose lock is lost, outputs and `.mediabatch/` with it, within a day: `found`: the next run
 * gets its job by its key. `held`: the same where the service gives each output the same link again; elsewhere it says
 * that the key is known, and nothing is bought. `listed`: `adopt` finds it. `shown`: `adopt` lists it, and a person
 * says that it is the one. `bought`: once more. `free`: made again, at no cost. `asked`: not without the consent of a
 * person.
 */
export type AfterLoss = 'found' | 'held' | 'listed' | 'shown' | 'bought' | 'free' | 'asked';

const words: Readonly<Record<AfterLoss, string>> = {
  found: '`apply` gets the same job by its key',
  held: 'the same where that output keeps its link; else exit 6, not bought',
  listed: '`adopt` finds it in the list of the service',
  shown: '`adopt` shows what it may be, and takes what `--job` names',
  bought: 'bought again: nothing tells of it',
  free: 'uploaded again, for nothing',
  asked: 'waits for `--publish`',
};

export interface LossRow {
  kinds: readonly string[];
  /** Whether their requests use what other steps made; absent: no matter. */
  usesOutputs?: boolean;
  outcome: AfterLoss;
}

/** Lists what comes back of each kind. A key covers the bytes of its request, and links of outputs are signed anew. */
export function lossRows(): LossRow[] {
  const of = (recovery: Kind['recovery'], act: Kind['act']) =>
    Object.values(kinds).flatMap((kind) => (kind.recovery === recovery && kind.act === act ? [kind.name] : []));
  const listed = of('list', 'job');
  const rows: LossRow[] = [
    { kinds: of('replay', 'job'), usesOutputs: false, outcome: 'found' },
    { kinds: of('replay', 'job'), usesOutputs: true, outcome: 'held' },
    { kinds: listed, outcome: 'listed' },
    { kinds: listed.filter(isToldByLink), usesOutputs: true, outcome: 'shown' },
    { kinds: of('ask', 'job'), outcome: 'bought' },
    { kinds: of('again', 'upload'), outcome: 'free' },
    { kinds: of('ask', 'post'), outcome: 'asked' },
  ];
  return rows.filter((row) => row.kinds.length > 0);
}

/** Whether the list of a kind tells its jobs apart by a link. */
function isToldByLink(name: string): boolean {
  const kind = kinds[name];
  const [telling = ''] = Object.keys(kind?.list?.echoes ?? {});
  return kind?.fields[telling]?.url === true;
}

/** Renders what brings back a purchase whose lock is lost, by kind. */
export function lossReference(): string {
  const rows = lossRows().map(({ kinds: names, usesOutputs, outcome }) => [
    `${names.join(', ')}${usesOutputs === true ? ' of an output' : ''}`,
    words[outcome],
  ]);
  return table(['kind', 'what the next run does'], rows);
}
