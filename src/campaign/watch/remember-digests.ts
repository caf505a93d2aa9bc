import { resolve } from 'node:path';
import { isOldFile, markOf } from '../../disk/watch/mark.ts';
import type { InputReader } from '../manifest-inputs.ts';

/** The same reader; files that did not change are not hashed again. `folder`: that of the manifest. */
export function rememberDigests(reader: InputReader, folder: string): InputReader {
  const known = new Map<string, { mark: string; answer: Awaited<ReturnType<InputReader['digest']>> }>();
  return {
    ...reader,
    async digest(path) {
      const full = resolve(folder, path);
      const mark = markOf(full);
      const before = known.get(path);
      if (before?.mark === mark) return before.answer;
      const isOld = isOldFile(full);
      const answer = await reader.digest(path);
      if (isOld) known.set(path, { mark, answer });
      else known.delete(path);
      return answer;
    },
  };
}
