import { compareView } from '../compare/compare.tsx';
import { matrixView } from '../matrix/matrix.tsx';
import type { Page, View } from '../state/page.ts';
import { groupsView } from './groups.tsx';
import { loupeView } from './loupe.tsx';
import { surveyView } from './survey.tsx';

/** In the order of their buttons. A gallery has more. */
export const pageViews: readonly View[] = [groupsView, surveyView, loupeView, compareView, matrixView];

/** The view that is open. */
export function viewOf({ offer, view }: Page): View {
  return offer.views.find(({ name }) => name === view.value) ?? groupsView;
}
