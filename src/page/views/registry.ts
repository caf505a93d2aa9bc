import { compareView } from '../compare/compare.tsx';
import { matrixView } from '../matrix/matrix.tsx';
import type { ViewName } from '../state/page.ts';
import { groupsView } from './groups.tsx';
import { loupeView } from './loupe.tsx';
import { surveyView } from './survey.tsx';
import type { View } from './view.ts';

/** In the order of their buttons. A gallery has more. */
export const views: View[] = [groupsView, surveyView, loupeView, compareView, matrixView];

export function viewNamed(name: ViewName): View {
  return views.find((view) => view.name === name) ?? groupsView;
}
