import { isJobId } from '../ground/job-id.ts';

/** A path of the service with an id in the place of `{id}`, as one segment. The only way in which an id gets into a URL. */
export function pathWithId(pattern: string, id: string): string {
  if (!isJobId(id)) throw new Error('internal error: not an id of the service');
  return pattern.replace('{id}', () => encodeURIComponent(id));
}
