import type { Facet } from '../model/filter.ts';
import type { KeyHelp, Page } from '../state/page.ts';
import { aboutOf } from './about.ts';
import { followAddress } from './address.ts';
import { gridView } from './grid.tsx';
import { listenForPrint } from './print.tsx';

const keys: readonly KeyHelp[] = [['Ctrl P', 'print, or save as PDF: everything that the filters show']];

const galleryFacets: Facet[] = [
  { name: 'task', valuesOf: ({ task }) => [task] },
  { name: 'tag', valuesOf: ({ tags }) => (tags.length === 0 ? ['no tag'] : tags) },
  { name: 'kind', valuesOf: ({ kind }) => [kind] },
  { name: 'state', valuesOf: ({ state }) => [state] },
  { name: 'verdict', valuesOf: ({ verdict, isJudged }) => [verdict?.is ?? (isJudged ? 'undecided' : 'not asked for')] },
];

/** Adds the parts of a gallery to the page before it is shown: filters, and those views that have content. */
export function openGallery(page: Page): void {
  const { report } = page.data.value;
  const { views } = page.offer;
  listenForPrint(page);
  if (page.isForClient) {
    // Groups of takes to decide about; tasks and keys mean nothing to a client.
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
