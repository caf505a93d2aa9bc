import type { Scene } from './scene.ts';
import { planDiscs } from './scene-discs.ts';
import { planHills } from './scene-hills.ts';
import { planRibbons } from './scene-ribbons.ts';
import { planTiles } from './scene-tiles.ts';

export const scenes: readonly Scene[] = [planHills, planDiscs, planTiles, planRibbons];
