import { clipping } from './clipping.ts';
import { image } from './image.ts';
import { influencer } from './influencer.ts';
import type { SandboxKind } from './kind.ts';
import { music } from './music.ts';
import { thumbnail } from './thumbnail.ts';
import { video } from './video.ts';
import { voiceover } from './voiceover.ts';

export const kinds: readonly SandboxKind[] = [image, influencer, thumbnail, music, voiceover, video, clipping];

export function findKind(name: string): SandboxKind | undefined {
  return kinds.find((kind) => kind.name === name);
}
