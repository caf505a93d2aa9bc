import type { Facet } from '../model/filter.ts';
import type { Page } from '../state/page.ts';
import { aboutOf } from './about.ts';
import { followAddress } from './address.ts';
import { gridView } from './grid.tsx';
import { listenForPrint } from './print.tsx';
import { galleryOf } from './state.ts';

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
  const beside = views.filter(({ name }) => name === 'groups' || name === 'changes' || name === 'matrix');
  const above = views.filter((view) => !beside.includes(view));
  page.offer = {
    views: [gridView, ...beside, ...above.map((view) => ({ ...view, size: true as const }))],
    facets: page.isForClient
      ? galleryFacets.filter(({ name }) => name === 'kind' || name === 'verdict')
      : galleryFacets,
  };
  page.homes.push('grid', 'matrix', 'changes');
  page.data.value = { ...page.data.value, next: [aboutOf(page), page.data.value.next].filter(Boolean).join(' · ') };
  const hasChanges = views.find(({ name }) => name === 'changes')?.isOffered?.(page.data.value);
  page.open(report.compare !== undefined && hasChanges ? 'changes' : 'grid');
  listenForPrint(page);
  followAddress(page);
}
