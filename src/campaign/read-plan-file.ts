import { orForgotten, readJsonFile } from '../disk/state/kept-json.ts';
import type { Json } from '../ground/json.ts';
import { isMap } from '../ground/values.ts';

/** Limit of what is read: a plan of a million steps is smaller. */
const mostBytes = 1 << 29;

/** The object in a file that says of itself that it is a plan. Whatever else is wrong is for who reads manifests to say. */
export async function readPlanFile(path: string): Promise<{ [key: string]: Json } | undefined> {
  const json = await orForgotten(() => readJsonFile(path, mostBytes));
  return isMap(json) && json.mediabatch === 'plan' ? json : undefined;
}
