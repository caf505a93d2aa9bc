import { CampaignError } from '../../contract/failure.ts';
import { call, way } from '../../ground/advice.ts';
import type { StepOrder } from '../../plan/plan.ts';
import type { Sql } from '../database/database.ts';
import { purchaseOf } from './orders.ts';
import type { RunOrigin, Submission } from './run-record.ts';

/**
 * Throws MB3704 if another account has an open run with one of the same purchases. Two API keys, or two names of one
 * host, may belong to the same account of the service, and two leaders would buy everything twice. A lock on the
 * campaign's name, kept until the transaction ends, ensures that the second of two concurrent submits sees the first.
 */
export async function refuseTwin(sql: Sql, { account, campaign, orders }: Submission): Promise<void> {
  await sql.query("SELECT pg_advisory_xact_lock(hashtext('mediabatch campaign'), hashtext($1))", [campaign]);
  const mine = new Map([...orders].flatMap((order) => purchaseOf(order).map((digest) => [digest, order])));
  const others = await sql.query<{ origin: RunOrigin; purchases: string[] }>(
    `SELECT origin, purchases FROM mediabatch.run JOIN mediabatch.part ON part.run = run.id
     WHERE campaign = $1 AND account <> $2 AND state = 'open' AND purchases && $3::text[]`,
    [campaign, account, [...mine.keys()]],
  );
  for (const { origin, purchases } of others) {
    const same = purchases.map((digest) => mine.get(digest)).find((order) => order !== undefined); // I47
    if (same !== undefined) throw twinError(same, { campaign, origin });
  }
}

function twinError(
  { address }: StepOrder,
  { campaign, origin }: { campaign: string; origin: RunOrigin },
): CampaignError {
  const { user, host, manifest } = origin;
  return new CampaignError({
    code: 'MB3704',
    message: `${address} is being bought on this engine already, with another key or for another address of the service: by the run of ${campaign} that ${user === '' ? '' : `${user} on `}${host} submitted (${manifest})`,
    hint: [
      'to attach to that run, use the key and the MEDIABATCH_BASE_URL that it was submitted with',
      way('to see it', call('workers')),
      'for a purchase of its own in another account, give this campaign another name. Nothing was submitted',
    ],
    lock: campaign,
  });
}
