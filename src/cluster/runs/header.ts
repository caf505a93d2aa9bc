import { CampaignError } from '../../contract/failure.ts';
import { call, way } from '../../ground/advice.ts';
import { canonicalJson, type Json } from '../../ground/json.ts';
import type { Sql } from '../database/database.ts';
import type { Seal } from '../seal.ts';
import type { RunHeader, RunRecord } from './run-record.ts';

/** Facts of a run in plain columns to which its encrypted header is bound: it decrypts only with these values. */
type BoundFacts = Pick<RunRecord, 'id' | 'campaign' | 'store' | 'settings' | 'totals'>;

export function sealHeader(seal: Seal, header: RunHeader, facts: BoundFacts): Buffer {
  return seal.sealLong(JSON.stringify(header), contextOf(facts));
}

/** Reads and decrypts the header of a run. Throws MB3704 if the header or a bound fact was changed since the submit. */
export async function readHeader(sql: Sql, seal: Seal, run: BoundFacts): Promise<RunHeader> {
  const [row] = await sql.query<{ header: Buffer }>('SELECT header FROM mediabatch.run WHERE id = $1', [run.id]);
  if (row === undefined) throw new Error(`internal error: no run ${run.id}`);
  const opened = seal.openLong(row.header, contextOf(run));
  if (opened === undefined) throw changedPlan(run); // I50
  return JSON.parse(opened) as RunHeader;
}

export function changedPlan({ id, campaign }: Pick<RunRecord, 'id' | 'campaign'>): CampaignError {
  return new CampaignError({
    code: 'MB3704',
    message:
      'the plan of this run on the engine is not the one that was submitted: it was changed there. Nothing is bought by it',
    hint: way('to end the run, and continue here with its recorded purchases', call('unlock', '--id', id, '--force')),
    lock: campaign,
  });
}

function contextOf({ id, campaign, store, settings, totals }: BoundFacts): string {
  // A JSON round trip removes undefined properties, as the database does.
  const facts = JSON.parse(JSON.stringify({ id, campaign, store, settings, totals })) as Json;
  return `header ${canonicalJson(facts)}`;
}
