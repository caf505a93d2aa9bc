import type { ReviewAsset, ReviewGate, ReviewGroup, ReviewWait } from '../../contract/review.ts';
import { stepAddress } from '../../graph/address.ts';
import { groupBy } from '../../ground/values.ts';
import type { DecidedGate } from '../../plan/decided-graph.ts';
import type { Situation } from '../../plan/situation.ts';
import { differingFields } from './differing-fields.ts';
import { sumWaits } from './sum-waiting.ts';

/**
 * Puts together what is compared with each other: the outputs of one gate, else those of one key of a task. In the order of
 * the manifest. Says of each asset in which fields its request differs from others of its group. `waits`: undefined where it
 * is not known what waits.
 */
export function describeGroups(
  assets: ReviewAsset[],
  { graph, gateOf }: Situation,
  waits: readonly ReviewWait[] | undefined,
): ReviewGroup[] {
  const nameOf = ({ address, task, key }: ReviewAsset) =>
    gateOf.get(address)?.name ?? stepAddress(task, { key, values: [], take: undefined });
  const sums = waits && sumWaits(waits);
  const byName = groupBy(assets.entries(), ([, asset]) => nameOf(asset));
  const groups = [...byName].map(([name, entries]): ReviewGroup => {
    const members = entries.map(([index]) => index);
    const own = entries.map(([, asset]) => asset);
    const [first] = own;
    const gate = first && gateOf.get(first.address);
    const keys = new Set(own.map(({ key }) => key));
    tellDifferences(own);
    return {
      ...{ name, task: first?.task ?? name, differBy: differencesOf(own), members },
      ...(keys.size === 1 && first?.key !== undefined && { key: first.key }),
      ...(gate && { gate: describeGate(gate, sums) }),
    };
  });
  const places = new Map(graph.tasks.map(({ id }, index) => [id, index]));
  const placeOf = ({ task }: ReviewGroup) => places.get(task) ?? places.size;
  return groups.sort((a, b) => placeOf(a) - placeOf(b));
}

const notKnown = { steps: 0, credits: null, likely: null };
const nothing = { steps: 0, credits: 0, likely: 0 };

function describeGate(gate: DecidedGate, waits: ReturnType<typeof sumWaits> | undefined): ReviewGate {
  const { name, is, choose, note, state } = gate;
  const { steps, credits, likely } = waits === undefined ? notKnown : (waits.get(name) ?? nothing);
  return {
    ...{ is, choose, state: state.is, waiting: steps, waitingCredits: credits },
    ...(credits === null && likely !== null && { waitingLikely: likely }),
    ...(note !== undefined && { note }),
  };
}

/** `key` where a gate chooses among all of a task. */
function differencesOf(assets: readonly ReviewAsset[]): string[] {
  const isSeveral = (values: Iterable<unknown>) => new Set(values).size > 1;
  const axes = new Set(assets.flatMap(({ matrix }) => Object.keys(matrix)));
  return [
    ...(isSeveral(assets.map(({ key }) => key)) ? ['key'] : []),
    ...[...axes].filter((axis) => isSeveral(assets.map(({ matrix }) => matrix[axis]))),
    ...(isSeveral(assets.map(({ take }) => take)) ? ['take'] : []),
  ];
}

function tellDifferences(assets: readonly ReviewAsset[]): void {
  if (assets.length < 2) return;
  const differing = differingFields(assets.map(({ request }) => request));
  for (const asset of assets) asset.differs = differing;
}
