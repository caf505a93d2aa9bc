import { batch, effect } from '@preact/signals';
import type { PackedData } from '../contract/report.ts';
import type { ReviewAsset, ReviewData } from '../contract/review.ts';
import { aboutOf } from './gallery/about.ts';
import { gridView } from './gallery/grid.tsx';
import { listenForPrint } from './gallery/print.tsx';
import { unpack } from './gallery/unpack.ts';
import { type Facet, noFilter } from './model/filter.ts';
import { startPage } from './start.tsx';
import type { KeyHelp, Page, ViewName } from './state/page.ts';

async function galleryInPage(): Promise<ReviewData> {
  const text = document.getElementById('data')?.textContent ?? '';
  const value = JSON.parse(text) as ReviewData | PackedData;
  const data = 'shapes' in value ? unpack(value) : value;
  if (data.report?.embedded !== undefined) for (const asset of data.assets) showSmallOnes(asset);
  return data;
}

function showSmallOnes({ files, earlier, report }: ReviewAsset): void {
  for (const file of [...files, ...earlier.flatMap((one) => one.files), ...(report?.before?.files ?? [])]) {
    if (file.thumb !== undefined) file.url ??= file.thumb;
  }
}

startPage({ load: galleryInPage, prepare: openGallery });

const keys: readonly KeyHelp[] = [['Ctrl P', 'print, or save as PDF: everything that the filters show']];

const galleryFacets: Facet[] = [
  { name: 'task', valuesOf: ({ task }) => [task] },
  { name: 'tag', valuesOf: ({ tags }) => (tags.length === 0 ? ['no tag'] : tags) },
  { name: 'kind', valuesOf: ({ kind }) => [kind] },
  { name: 'state', valuesOf: ({ state }) => [state] },
  { name: 'verdict', valuesOf: ({ verdict, isJudged }) => [verdict?.is ?? (isJudged ? 'undecided' : 'none needed')] },
];

function openGallery(page: Page): void {
  const { report } = page.data.value;
  const { views } = page.offer;
  listenForPrint(page);
  if (page.isForClient) {
    // The gallery for a client does not show tasks, tags and states.
    const facets = galleryFacets.filter(({ name }) => name === 'kind' || name === 'verdict');
    page.offer = { ...page.offer, views: views.filter(({ name }) => /groups|loupe|compare/.test(name)), facets, keys };
    return;
  }
  const beside = views.filter(({ name }) => name === 'groups' || name === 'changes' || name === 'matrix');
  const above = views.filter((view) => !beside.includes(view));
  page.offer = {
    ...page.offer,
    views: [gridView, ...beside, ...above.map((view) => ({ ...view, size: true as const }))],
    facets: galleryFacets,
    keys,
  };
  page.homes.push('grid', 'matrix', 'changes');
  page.data.value = { ...page.data.value, run: { is: 'ended', text: aboutOf(page) } };
  const hasChanges = views.find(({ name }) => name === 'changes')?.isOffered?.(page.data.value);
  page.open(report?.compare !== undefined && hasChanges ? 'changes' : 'grid');
  followAddress(page);
}

/** Delay in ms before the active asset is written to the URL, because browsers limit the rate of URL changes. */
const settled = 300;

/**
 * Synchronizes the hash of the URL with the view, so that a link opens the same view. Each change of views or filters
 * adds an entry to the browser history.
 */
function followAddress(page: Page): void {
  const start = page.views.value;
  show(page, start);
  let step = hashOf(page);
  let timer: ReturnType<typeof setTimeout> | undefined;
  effect(() => {
    const hash = hashOf(page, { search: page.filter.value.text, active: page.active.value });
    const now = hashOf(page);
    clearTimeout(timer);
    if (now === step) timer = setTimeout(() => history.replaceState(null, '', hash), settled);
    else history.pushState(null, '', hash);
    step = now;
  });
  addEventListener('popstate', () => {
    batch(() => {
      show(page, start);
      step = hashOf(page);
    });
  });
}

function hashOf(page: Page, passing: Record<string, string> = {}): string {
  const { undecided, text: _, ...chosen } = page.filter.value;
  const flags = { undecided: undecided ? 'yes' : '', details: page.hasDetails.value ? 'yes' : '' };
  const all = Object.entries({ view: page.views.value.join('.'), ...chosen, ...flags, ...passing });
  return `#${new URLSearchParams(all.filter(([, value]) => value !== ''))}`;
}

function show(page: Page, start: readonly ViewName[]): void {
  const said = new URLSearchParams(location.hash.slice(1));
  const get = (name: string) => said.get(name) ?? '';
  const chosen = page.offer.facets.map(({ name }) => [name, get(name)]);
  page.filter.value = {
    ...{ ...noFilter, ...Object.fromEntries(chosen) },
    ...{ undecided: get('undecided') === 'yes', text: get('search') },
  };
  page.hasDetails.value = get('details') === 'yes';
  const known = get('view')
    .split('.')
    .filter((name): name is ViewName => page.offer.views.some((view) => view.name === name));
  const isWhole = page.homes.some((home) => home === known[0]);
  page.views.value = known.length === 0 ? start : isWhole ? known : ['grid', ...known];
  if (page.shown.value.assets.has(get('active'))) page.activate(get('active'));
}
