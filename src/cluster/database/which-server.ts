import { isMap } from '../../ground/values.ts';
import type { Sql } from './database.ts';
import { isNotOffered } from './server-errors.ts';

/**
 * Identity of a database, which changes when a copy replaces it: a dump creates its tables again, another server has another
 * id, and a promoted replica or a restored archive begins a new timeline. A volume snapshot is not detected. Parts that a
 * role may not read, or a server does not have, are left out.
 */
export async function whichServer(sql: Sql): Promise<string> {
  // Of the log as it is written now: the control file has a new timeline only after its next checkpoint.
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

/** Whether nothing that both know is different. `null`: nobody vouches for what is on record. */
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
