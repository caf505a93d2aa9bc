import { isJobId } from '../ground/job-id.ts';

/** A path of the service with an ID in place of `{id}`, as one segment. The only way for an ID to get into a URL. */
export function pathWithId(pattern: string, id: string): string {
  if (!isJobId(id)) throw new Error('internal error: not an id of the service');
  return pattern.replace('{id}', () => encodeURIComponent(id));
}
