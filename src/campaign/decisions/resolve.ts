import { CampaignError } from '../../contract/failure.ts';
import { call, way } from '../../ground/advice.ts';
import { type Finding, ruleOnSend } from '../../plan/decisions/resolve-purchase.ts';
import { settlingOf } from '../../plan/purchases/next.ts';
import { checkCall } from '../check-call.ts';
import { checkFinding, checkJob } from '../check-options.ts';
import { type Decided, type DecideOptions, decide } from '../decide.ts';
import type { OpenCampaign } from '../open-campaign.ts';

export interface FoundOut {
  address: string;
  /** Finding of the person. If undefined, the error lists the possible findings. */
  finding: Finding | undefined;
  /** Id of the send, for an address with several open sends. */
  send?: string | undefined;
}

/** Records what a person has found out about a create request whose answer was lost. Spends nothing itself. */
export async function resolve(campaign: OpenCampaign, found: FoundOut, options: DecideOptions = {}): Promise<Decided> {
  checkCall('resolve', [campaign, found, options]);
  const { address, finding, send } = found;
  if (finding !== undefined) checkFinding(finding);
  if (finding?.is === 'job') checkJob(finding.jobId, finding.credits);
  const { replays, accountOf } = campaign;
  return decide(campaign, options, ({ lock }) => {
    const facts = { replays, accountOf, now: Date.now() };
    // Whether to query the service is known before; whether the finding can be recorded is not.
    const ruling = ruleOnSend(address, {
      ...{ lock, finding, send },
      canBeAskedFor: (open) => open.request !== undefined && settlingOf(open, facts).by === 'replay',
    });
    if (ruling === undefined) throw nothingFound(address);
    return [ruling];
  });
}

/** Error for a command that was pasted from a hint without filling in the finding. */
function nothingFound(address: string): CampaignError {
  return new CampaignError({
    code: 'MB3405',
    message: `it is not known yet whether the create request of ${address} succeeded: look for its job in the service's dashboard`,
    hint: [
      'if it shows the job, add --job and its id',
      way('if it does not', call('resolve', address, '--not-spent')),
      way('to buy it whatever happened', call('resolve', address, '--spend-again')),
    ],
    address,
  });
}
