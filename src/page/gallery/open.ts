import type { Facet } from '../model/filter.ts';
import type { KeyHelp, Page } from '../state/page.ts';
import { aboutOf } from './about.ts';
import { followAddress } from './address.ts';
import { gridView } from './grid.tsx';
import { listenForPrint } from './print.tsx';
import { galleryOf } from './state.ts';
import { Surroundings } from './surroundings.tsx';

const galleryKeyHelp: readonly KeyHelp[] = [
  ['G', 'grid'],
  ['Ctrl P', 'print, or save as PDF: everything that the filters show'],
];

const galleryFacets: Facet[] = [
  { name: 'task', valuesOf: ({ task }) => [task] },
  { name: 'tag', valuesOf: ({ tags }) => (tags.length === 0 ? ['no tag'] : tags) },
  { name: 'kind', valuesOf: ({ kind }) => [kind] },
  { name: 'state', valuesOf: ({ state }) => [state] },
  { name: 'verdict', valuesOf: ({ verdict, isJudged }) => [verdict?.is ?? (isJudged ? 'undecided' : 'not asked for')] },
  { name: 'cost', valuesOf: ({ credits }) => [costRange(credits)] },
];

function costRange(credits: number | null | undefined): string {
  if (credits === undefined) return 'nothing bought';
  if (credits === null) return 'cost not known';
  if (credits < 1) return 'less than 1 credit';
  if (credits < 5) return '1 to 5 credits';
  if (credits < 20) return '5 to 20 credits';
  return credits < 100 ? '20 to 100 credits' : '100 credits and more';
}

/** Adds the parts of a gallery to the page before it is shown: filters, and those views that have content. */
export function openGallery(page: Page): void {
  const { report } = galleryOf(page);
  const { views } = page.offer;
  const help = [...page.offer.help, { where: 'Gallery', keys: galleryKeyHelp }];
  listenForPrint(page);
  if (page.isForClient) {
    // Groups of takes to decide about; tasks and keys mean nothing to a client.
    const facets = galleryFacets.filter(({ name }) => name === 'kind' || name === 'verdict');
    page.offer = { ...page.offer, views: views.filter(({ name }) => /groups|loupe|compare/.test(name)), facets };
    galleryOf(page).sections.value = 'key';
    return;
  }
  const beside = views.filter(({ name }) => name === 'groups' || name === 'changes' || name === 'matrix');
  const above = views.filter((view) => !beside.includes(view));
  page.offer = {
    ...page.offer,
    views: [gridView, ...beside, ...above.map((view) => ({ ...view, size: true as const }))],
    facets: galleryFacets,
    ...{ help, Surroundings },
  };
  page.homes.push('grid', 'matrix', 'changes');
  page.data.value = { ...page.data.value, next: [aboutOf(page), page.data.value.next].filter(Boolean).join(' · ') };
  const hasChanges = views.find(({ name }) => name === 'changes')?.isOffered?.(page.data.value);
  page.open(report.compare !== undefined && hasChanges ? 'changes' : 'grid');
  followAddress(page);
}
