import { changesView } from '../changes/changes.tsx';
import { compareView } from '../compare/compare.tsx';
import { matrixView } from '../matrix/matrix.tsx';
import type { Page, View } from '../state/page.ts';
import { groupsView } from './groups.tsx';
import { loupeView } from './loupe.tsx';

export const pageViews: readonly View[] = [groupsView, loupeView, compareView, changesView, matrixView];

export function viewOf({ offer, view }: Page): View {
  return offer.views.find(({ name }) => name === view.value) ?? groupsView;
}
