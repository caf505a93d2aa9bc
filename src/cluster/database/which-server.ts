import { isMap } from '../../ground/values.ts';
import type { Sql } from './database.ts';
import { isNotOffered } from './server-errors.ts';

/**
 * Returns the identity of a database, which changes when a copy replaces it: a restored dump has new table ids, another
 * server has another system id, and a promoted replica or restored archive has a new timeline. A volume snapshot is not
 * detected. Parts that the role may not read, or that the server does not have, are left out.
 */
export async function whichServer(sql: Sql): Promise<string> {
  // The timeline of the current WAL file: the control file shows a new timeline only after the next checkpoint.
  const [timeline, system, tables] = await Promise.all([
    askFor(sql, 'left(pg_walfile_name(pg_current_wal_lsn()), 8)'),
    askFor(sql, '(SELECT system_identifier::text FROM pg_control_system())'),
    askFor(sql, "'mediabatch.run'::regclass::oid::text"),
  ]);
  return JSON.stringify({ system, timeline, tables });
}

async function askFor(sql: Sql, fact: string): Promise<string | undefined> {
  try {
    const [row] = await sql.query<{ fact: string }>(`SELECT ${fact} AS fact`);
    return row?.fact;
  } catch (error) {
    if (isNotOffered(error)) return undefined;
    throw error;
  }
}

/** Whether the parts that both identities have are equal. False for `null` (unconfirmed). */
export function isSameServer(one: string | null, other: string): boolean {
  const [known, now] = [partsOf(one), partsOf(other)];
  if (known === undefined || now === undefined) return false;
  return Object.entries(known).every(([part, value]) => now[part] === undefined || now[part] === value); // I46 (server)
}

function partsOf(text: string | null): { readonly [part: string]: unknown } | undefined {
  try {
    const parts = JSON.parse(text ?? 'null');
    return isMap(parts) ? parts : undefined;
  } catch {
    return undefined;
  }
}
