import type { FunctionComponent } from 'preact';
import type { Direction } from '../model/moves.ts';
import type { Page, ViewName } from '../state/page.ts';

/** One way of looking at the campaign. A view shows `page.strips`, and outlines `page.active`. */
export interface View {
  name: ViewName;
  /** On its button. */
  label: string;
  /** Opens it: what `KeyboardEvent.key` is, in small letters. */
  key?: string;
  Component: FunctionComponent<{ page: Page }>;
  /** The address to which an arrow leads; undefined: it stays. */
  move(page: Page, direction: Direction): string | undefined;
  /** Is asked before the page acts on a key. True: it was for the view. */
  onKey?(page: Page, event: KeyboardEvent): boolean;
}

/** Keys and what they do, for the help of the page. */
export type KeyHelp = readonly [keys: string, what: string];
