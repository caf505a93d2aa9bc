import type { ReviewAsset } from '../../contract/review.ts';
import { needsVerdict, type Shown, type ShownGroup } from './shown.ts';

export interface Facet {
  name: 'task' | 'tag' | 'kind' | 'state' | 'verdict';
  valuesOf(asset: ReviewAsset): readonly (string | undefined)[];
  /** Selectable values of the facet. Defaults to the values that assets have. */
  values?: readonly string[];
}

export const pageFacets: readonly Facet[] = [
  { name: 'task', valuesOf: ({ task }) => [task] },
  { name: 'kind', valuesOf: ({ kind }) => [kind] },
  {
    name: 'state',
    valuesOf: ({ state, verdict }) => [state, verdict?.is],
    values: ['picked', 'rejected', 'done', 'changed', 'running', 'failed', 'unresolved', 'planned'],
  },
];

/** Filter settings. An empty or missing facet excludes no asset. */
export interface Filter extends Partial<Record<Facet['name'], string>> {
  undecided: boolean;
  /** Search words. An asset matches if its texts contain all words. */
  text: string;
}

export const noFilter: Filter = { undecided: false, text: '' };

/** Group with at least one asset that matches the filter. */
export interface Strip {
  group: ShownGroup;
  assets: readonly ReviewAsset[];
}

export function isPlanned({ assets }: Strip): boolean {
  return assets.every(({ state, files }) => state === 'planned' && files.length === 0);
}

/** Applies a filter to all groups. If the filter does not change a group, its strip stays the same object. */
export function applyFilter({ groups }: Shown, filter: Filter, facets: readonly Facet[]): Strip[] {
  const chosen = facets.filter(({ name }) => filter[name]);
  const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
  return groups.flatMap((group) => {
    const assets = group.assets.filter((asset) => passes(asset, group, { filter, chosen, words }));
    if (assets.length === group.assets.length) return assets.length === 0 ? [] : [wholeStrip(group)];
    return assets.length === 0 ? [] : [{ group, assets }];
  });
}

const wholes = new WeakMap<ShownGroup, Strip>();

function wholeStrip(group: ShownGroup): Strip {
  const known = wholes.get(group) ?? { group, assets: group.assets };
  wholes.set(group, known);
  return known;
}

function passes(
  asset: ReviewAsset,
  group: ShownGroup,
  { filter, chosen, words }: { filter: Filter; chosen: readonly Facet[]; words: readonly string[] },
): boolean {
  if (filter.undecided && !needsVerdict(asset, group)) return false;
  if (chosen.some(({ name, valuesOf }) => !valuesOf(asset).includes(filter[name]))) return false;
  if (words.length === 0) return true;
  const text = textOf(asset);
  return words.every((word) => text.includes(word) || group.group.title?.toLowerCase().includes(word) === true);
}

const texts = new WeakMap<ReviewAsset, string>();

function textOf(asset: ReviewAsset): string {
  let text = texts.get(asset);
  if (text === undefined) {
    const { address, kind, row, state, error, job, tags, verdict, request, files } = asset;
    const parts = [
      address,
      kind,
      row,
      state,
      error,
      job,
      ...tags,
      verdict?.is,
      verdict?.reason,
      verdict?.note,
      verdict?.by,
      JSON.stringify(request),
    ];
    text = [...parts, ...files.map(({ path }) => path)].join('\n').toLowerCase();
    texts.set(asset, text);
  }
  return text;
}
