import { kinds } from '../kinds/index.ts';

/** Path of a step's `index`-th file, without extension. A kind whose output is a list numbers its files from 1. */
export function wantedPath(step: { kind: string; save: string }, index: number): string {
  return kinds[step.kind]?.parts === undefined ? step.save : `${step.save}-${index + 1}`;
}

export function withoutExtension(path: string): string {
  return path.replace(/\.[A-Za-z0-9]+$/, '');
}
