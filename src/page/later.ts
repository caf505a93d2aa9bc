import { changesView } from './changes/changes.tsx';
import { compareView } from './compare/compare.tsx';
import { compareKeyHelp } from './compare/keys.ts';
import { compareOf } from './compare/state.ts';
import { Details } from './details/details.tsx';
import { pageKeyHelp, soundKeyHelp } from './key-help.ts';
import { matrixView } from './matrix/matrix.tsx';
import { Help } from './parts/help.tsx';
import type { Later, Page } from './state/page.ts';

/** Parts of the page that the first picture does not need; they are loaded after it, from a separate file. */
export const later: Later = {
  views: [compareView, changesView, matrixView],
  Details,
  Help,
  help: [
    { where: 'Everywhere', keys: pageKeyHelp },
    { where: 'Songs and voices', keys: soundKeyHelp },
    { where: 'Compare', keys: compareKeyHelp },
  ],
  blink(page: Page) {
    page.open('compare');
    compareOf(page).blink();
  },
};
