export type SettledStage = 'done' | 'kept';

/**
 * Steps that are done, by this run or before it: nearly all of a large campaign. Only their number and the place of
 * their files are reported, so nothing else is kept.
 */
export interface SettledSteps {
  addresses: Set<string>;
  stages: Map<SettledStage, number>;
  files: SavedFiles;
}

export interface SavedFiles {
  count: number;
  /** Path of the first one's file. */
  path: string;
  /** Names of the deepest folder that holds all of them. */
  folder: string[];
}

export function noSettledSteps(): SettledSteps {
  return { addresses: new Set(), stages: new Map(), files: { count: 0, path: '', folder: [] } };
}

export function isSettled(stage: string): stage is SettledStage {
  return stage === 'done' || stage === 'kept';
}

/** `path`: where its file was saved in this run, if it was. */
export function settleStep(settled: SettledSteps, step: { address: string; stage: SettledStage; path?: string }): void {
  const { address, stage, path } = step;
  settled.addresses.add(address);
  settled.stages.set(stage, (settled.stages.get(stage) ?? 0) + 1);
  if (path !== undefined) settled.files = addFile(settled.files, path);
}

export function addFile(files: SavedFiles, path: string): SavedFiles {
  const names = path.split('/').slice(0, -1);
  if (files.count === 0) return { count: 1, path, folder: names };
  const differs = files.folder.findIndex((name, index) => names[index] !== name);
  const folder = differs === -1 ? files.folder : files.folder.slice(0, differs);
  return { count: files.count + 1, path: files.path, folder };
}
