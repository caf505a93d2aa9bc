import { image } from './image.ts';
import type { SandboxKind } from './kind.ts';
import { music } from './music.ts';

/** The kinds that the sandbox serves. */
export const kinds: readonly SandboxKind[] = [image, music];

export function findKind(name: string): SandboxKind | undefined {
  return kinds.find((kind) => kind.name === name);
}
