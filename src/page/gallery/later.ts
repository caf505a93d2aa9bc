import { later as pageLater } from '../later.ts';
import type { KeyHelp, Later } from '../state/page.ts';
import { Surroundings } from './surroundings.tsx';

const galleryKeyHelp: readonly KeyHelp[] = [
  ['G', 'grid'],
  ['Ctrl P', 'print, or save as PDF: everything that the filters show'],
];

/** Parts of a gallery that load after its grid. */
export const later: Later = {
  ...pageLater,
  Surroundings,
  help: [...pageLater.help, { where: 'Gallery', keys: galleryKeyHelp }],
};
