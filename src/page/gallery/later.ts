import { later as pageLater } from '../later.ts';
import type { KeyHelp, Later } from '../state/page.ts';
import { Surroundings } from './surroundings.tsx';

const galleryKeyHelp: readonly KeyHelp[] = [
  ['G', 'grid'],
  ['Ctrl P', 'print, or save as PDF: everything that the filters show'],
];

/** Parts of a gallery that its grid does not need: they are loaded after it. */
export const later: Later = {
  ...pageLater,
  Surroundings,
  help: [...pageLater.help, { where: 'Gallery', keys: galleryKeyHelp }],
};
