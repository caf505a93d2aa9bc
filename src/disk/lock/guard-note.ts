import type { Holder } from '../../contract/failure.ts';
import type { ProcessIdentity } from './process-identity.ts';

/** Content of a guard: the process that took it. */
export interface HolderNote extends ProcessIdentity {
  since: string;
  id: string;
}

export function writeNote(note: HolderNote): Uint8Array {
  const { id, host, pid, since, boot, machine, namespace, started } = note;
  const fields = { mediabatch: 'guard', version: 1, id, host, pid, since, boot, machine, namespace, started };
  return Buffer.from(`${JSON.stringify(fields)}\n`);
}

/** Reads the note of a guard. Undefined for anything that is not certainly one of our guards. */
export function parseNote(text: string): HolderNote | undefined {
  let fields: unknown;
  try {
    fields = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isRecord(fields) || fields.mediabatch !== 'guard' || fields.version !== 1) return undefined;
  const { id, host, pid, since, boot, machine, namespace, started } = fields;
  // The ID becomes a part of a file name.
  if (typeof id !== 'string' || !/^[0-9a-f]{16}$/.test(id)) return undefined;
  if (typeof host !== 'string' || typeof since !== 'string') return undefined;
  // To the kernel, 0 and negative numbers mean process groups.
  if (typeof pid !== 'number' || !Number.isSafeInteger(pid) || pid < 1) return undefined;
  return {
    id,
    host,
    pid,
    since,
    ...(typeof boot === 'string' && { boot }),
    ...(typeof machine === 'string' && { machine }),
    ...(typeof namespace === 'string' && { namespace }),
    ...(typeof started === 'string' && { started }),
  };
}

export function holderOf({ host, pid, since, id }: HolderNote): Holder {
  return { host, pid, since, id };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
