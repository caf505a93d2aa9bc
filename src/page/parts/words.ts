import type { ReviewAsset, ReviewFile } from '../../contract/review.ts';
import type { ShownGroup, Waits } from '../model/shown.ts';

/** `1 credit`, `12 credits`; `? credits` where nobody knows. */
export function credits(amount: number | null): string {
  return `${amount ?? '?'} ${amount === 1 ? 'credit' : 'credits'}`;
}

export function counted(amount: number, one: string, many = `${one}s`): string {
  return `${amount} ${amount === 1 ? one : many}`;
}

/** Says what a gate holds back: `2 steps wait, ≈ 12 credits`. */
export function waitWords({ steps, credits: amount, likely }: Waits): string {
  const expected = likely === null ? 'at a price not known yet' : `≈ ${credits(likely)}`;
  const price = amount === null ? expected : credits(amount);
  return `${counted(steps, 'step')} ${steps === 1 ? 'waits' : 'wait'}, ${price}`;
}

/** The state of an asset in words; empty for one that is simply there. */
export function stateWords({ state, error }: ReviewAsset): string {
  switch (state) {
    case 'done':
      return '';
    case 'changed':
      return 'bought before its input changed';
    case 'running':
      return 'is being made';
    case 'failed':
      return error === undefined ? 'failed' : `failed: ${error}`;
    case 'unresolved':
      return 'was sent, and nobody knows how it ended';
    case 'planned':
      return 'not bought yet';
    default:
      return state satisfies never;
  }
}

/** Why a file that was bought cannot be shown; undefined: it can. */
export function problemOf(file: ReviewFile | undefined): string | undefined {
  if (file === undefined) return 'it has no file';
  if (file.problem === 'missing') return `${file.path} is not on this disk`;
  if (file.problem === 'damaged') return `${file.path} is not what was saved`;
  return file.url === undefined ? `${file.path} cannot be shown` : undefined;
}

/** Says what a gate asks for, and how far it is. */
export function gateWords({ group: { gate }, state, picked, assets }: ShownGroup): string {
  if (gate === undefined) return '';
  const { choose } = gate;
  switch (state) {
    case 'decided':
      return gate.is === 'choose' ? 'decided' : 'approved';
    case 'contested':
      return `contested: ${picked} are picked, ${choose} is to be`;
    case 'rejected':
      return `${assets.length === 1 ? 'rejected' : 'nothing left to pick'}; to buy anew:`;
    default:
      if (gate.is !== 'choose') return 'look and approve';
      return choose === 1 ? 'pick one' : `pick ${choose}, ${picked} so far`;
  }
}

/** Names what sets an asset apart in its group, at a place that counts from 0. */
export function shortName({ take, matrix }: ReviewAsset, place: number): string {
  if (take !== undefined) return `take ${take}`;
  return Object.values(matrix).join(', ') || String(place + 1);
}

/** `1:04`, of seconds. */
export function timeOf(seconds: number): string {
  const whole = Math.floor(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}
