import type { Page, View } from '../state/page.ts';
import { groupsView } from './groups.tsx';
import { lateView } from './late-view.tsx';
import { loupeView } from './loupe.tsx';

/** Views of the review page, in the order of their buttons. A gallery adds more. */
export const pageViews: readonly View[] = [
  groupsView,
  loupeView,
  lateView({ name: 'compare', label: 'Compare', key: 'c' }),
  lateView({
    name: 'changes',
    label: 'Before | after',
    key: 'a',
    isOffered: ({ assets }) => assets.some(({ before, earlier }) => before !== undefined || earlier.length > 0),
  }),
  lateView({ name: 'matrix', label: 'Matrix', key: 'm' }),
];

export function viewOf({ offer, view }: Page): View {
  return offer.views.find(({ name }) => name === view.value) ?? groupsView;
}
