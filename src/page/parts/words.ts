import type { ReviewAsset, ReviewFile } from '../../contract/review.ts';
import type { Shown, ShownGroup, Waits } from '../model/shown.ts';

export function credits(amount: number | null): string {
  const text = amount === null ? '?' : String(amount);
  // Numbers have spaces between thousands from 10,000 on, as in the command line.
  const grouped = (amount ?? 0) >= 10_000 ? text.replace(/\B(?=(\d{3})+(?!\d))/g, '\u00a0') : text;
  return `${grouped} ${amount === 1 ? 'credit' : 'credits'}`;
}

/** Returns the sum of amounts, or `null` if one of them is `null`. */
export function sumOf(amounts: readonly (number | null)[]): number | null {
  return amounts.includes(null) ? null : amounts.reduce<number>((sum, amount) => sum + (amount ?? 0), 0);
}

export function listed(items: readonly (string | number)[]): string {
  return items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`;
}

export function counted(amount: number, one: string, many = `${one}s`): string {
  return `${amount} ${amount === 1 ? one : many}`;
}

/** Returns a text such as `then 2 films, ≈ 12 credits`. */
export function waitWords({ steps, what, credits: amount, likely }: Waits): string {
  const expected = likely === null ? 'at an unknown price' : `≈ ${credits(likely)}`;
  const price = amount === null ? expected : credits(amount);
  return `then ${counted(steps, what ?? 'step')}, ${price}`;
}

export function stateWords({ state, error }: ReviewAsset): string {
  switch (state) {
    case 'done':
      return '';
    case 'changed':
      return 'bought before its input changed';
    case 'running':
      return 'still running';
    case 'failed':
      return error === undefined ? 'failed' : `failed: ${error}`;
    case 'unresolved':
      return 'create request sent, outcome unknown';
    case 'planned':
      return 'not bought yet';
    default:
      return state satisfies never;
  }
}

/** Returns the first picture, sound or film of an asset. If there is none, returns the first file. */
export function mainFile({ files }: ReviewAsset): ReviewFile | undefined {
  return files.find((file) => file.is !== 'other') ?? files[0];
}

export function problemOf(file: ReviewFile | undefined): string | undefined {
  if (file === undefined) return 'it has no file';
  if (file.problem === 'missing') return `${file.path} is not on this disk`;
  if (file.problem === 'damaged') return `${file.path} has changed since it was saved`;
  return file.url === undefined ? `${file.path} is not in this page (${bytesText(file.bytes)})` : undefined;
}

export function bytesText(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB'];
  const power = Math.min(Math.floor(Math.log10(Math.max(1, bytes)) / 3), units.length - 1);
  const amount = bytes / 1000 ** power;
  return `${amount < 10 && power > 0 ? amount.toFixed(1) : Math.round(amount)} ${units[power]}`;
}

export function gateWords({ group: { gate }, state, picked, assets }: ShownGroup): string {
  if (gate === undefined) return '';
  const { choose } = gate;
  switch (state) {
    case 'decided':
      return gate.is === 'choose' ? 'decided' : 'approved';
    case 'contested':
      return `contested: ${picked} picked`;
    case 'rejected':
      return assets.length === 1 ? 'rejected' : 'all rejected';
    default:
      if (gate.is !== 'choose') return 'review and approve';
      return choose === 1 ? 'pick one' : `pick ${choose}, ${picked} so far`;
  }
}

export const textFields = ['prompt', 'text', 'script', 'lyrics', 'caption', 'title'];

export function askedText(assets: readonly ReviewAsset[]): string | undefined {
  const texts = new Set(
    assets.map(({ request }) => textFields.map((field) => request[field]).find((value) => typeof value === 'string')),
  );
  const [text] = texts;
  return texts.size === 1 && typeof text === 'string' ? text : undefined;
}

export function shortName({ take, matrix }: ReviewAsset, place: number): string {
  if (take !== undefined) return `take ${take}`;
  return Object.values(matrix).join(', ') || String(place + 1);
}

export function nameIn({ group: { differBy }, assets }: ShownGroup, asset: ReviewAsset): string {
  if (assets.length < 2) return '';
  const parts = differBy.flatMap((by) => {
    if (by === 'take') return asset.take === undefined ? [] : `take ${asset.take}`;
    return (by === 'key' ? asset.key : asset.matrix[by]) ?? [];
  });
  return parts.join(', ') || String(assets.indexOf(asset) + 1);
}

/** Returns a name of an asset for sentences: the title of its group and its properties, or else its address. */
export function nameOf({ assets, groupOf }: Pick<Shown, 'assets' | 'groupOf'>, address: string): string {
  const [asset, group] = [assets.get(address), groupOf.get(address)];
  if (asset === undefined || group?.group.title === undefined) return address;
  return [group.group.title, nameIn(group, asset)].filter(Boolean).join(', ');
}

/** Number of characters at the end of an address that are always visible. */
const shortEnd = 10;
/** The last part of an address is never cut if it has at most this many characters. */
const longEnd = 24;

export function endOf(address: string): [start: string, end: string] {
  const last = address.split(/(?<=[@,/])/).at(-1) ?? '';
  // A right-to-left text is not split, because its parts would appear in the wrong order.
  const length = last.length <= longEnd || !/^[ -~]+$/.test(last) ? last.length : shortEnd;
  return [address.slice(0, address.length - length), address.slice(address.length - length)];
}

export function timeOf(seconds: number): string {
  const whole = Math.floor(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}
