export type SettledStage = 'done' | 'kept';

/** Steps that are done, by this run or before it: nearly all of a large campaign. Only their number is reported. */
export interface SettledSteps {
  addresses: Set<string>;
  stages: Map<SettledStage, number>;
}

/** Files that a run has saved. A step may have several, and a large campaign has too many to keep each of them in mind. */
export interface SavedFiles {
  count: number;
  /** Path of the first one's file. */
  path: string;
  /** Names of the deepest folder that holds all of them. */
  folder: string[];
}

export function noSettledSteps(): SettledSteps {
  return { addresses: new Set(), stages: new Map() };
}

export function noFiles(): SavedFiles {
  return { count: 0, path: '', folder: [] };
}

export function isSettled(stage: string): stage is SettledStage {
  return stage === 'done' || stage === 'kept';
}

export function settleStep(settled: SettledSteps, { address, stage }: { address: string; stage: SettledStage }): void {
  settled.addresses.add(address);
  settled.stages.set(stage, (settled.stages.get(stage) ?? 0) + 1);
}

export function addFile(files: SavedFiles, path: string): SavedFiles {
  const names = path.split('/').slice(0, -1);
  if (files.count === 0) return { count: 1, path, folder: names };
  const differs = files.folder.findIndex((name, index) => names[index] !== name);
  const folder = differs === -1 ? files.folder : files.folder.slice(0, differs);
  return { count: files.count + 1, path: files.path, folder };
}
