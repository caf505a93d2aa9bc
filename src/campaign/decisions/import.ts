import { CampaignError } from '../../contract/failure.ts';
import type { Step } from '../../graph/graph.ts';
import { mustGet } from '../../ground/values.ts';
import { envelope } from '../../kinds/envelope.ts';
import { kinds } from '../../kinds/index.ts';
import { importJob } from '../../plan/decisions/import-job.ts';
import { type Ruling, refuse } from '../../plan/decisions/ruling.ts';
import { listedCharge, pricesFrom } from '../../plan/prices/prices.ts';
import type { Library } from '../../service/library.ts';
import { mostLookedThrough } from '../../service/listing.ts';
import { checkCall } from '../check-call.ts';
import { checkJob } from '../check-options.ts';
import { requireStep } from '../choose-steps.ts';
import { type Decided, type DecideOptions, decide } from '../decide.ts';
import type { OpenCampaign } from '../open-campaign.ts';
import { withLibraryOf } from '../with-library.ts';

export interface ImportedJob {
  address: string;
  job: string;
  /** Credits charged for the job, where the service does not report them. */
  credits?: number | undefined;
  /** Whether to record the job without querying the service. */
  offline?: boolean | undefined;
}

/** Records a job that is already paid at a step without a purchase. */
export async function importStep(
  campaign: OpenCampaign,
  imported: ImportedJob,
  options: DecideOptions = {},
): Promise<Decided> {
  checkCall('importStep', [campaign, imported, options]);
  const { address, job, credits, offline } = imported;
  checkJob(job, credits);
  const { service } = campaign;
  return decide(campaign, { ...options, service }, async ({ graph, lock, situation }) => {
    const written = requireStep(address, graph);
    if (kinds[written.kind]?.status === undefined) {
      throw new CampaignError({
        code: 'MB3005',
        message: `${address} is of kind ${written.kind}, which has no jobs that can be adopted`,
        hint: 'only what has a job at the service can be collected',
        addresses: [address],
      });
    }
    const match = mustGet(situation.byAddress, written.address);
    const context = { campaign: graph.name, lock };
    const given = { jobId: job, ...(credits !== undefined && { credits }) };
    const ruling = importJob(match, given, context);
    if (ruling.is !== 'recorded' || offline === true) return [ruling];
    const asked = await withLibraryOf(campaign, ({ library }) => askFor(match.step, job, library));
    if (isRuling(asked)) return [asked];
    const { credits: listed, ...facts } = asked;
    const charge = listedCharge(listed, pricesFrom(lock, graph.prices)(match.step.kind, match.step.request));
    return [importJob(match, { ...facts, ...(charge !== undefined && { credits: charge }), ...given }, context)];
  });
}

type Asked = { credits?: number; recordId?: string };

function isRuling(asked: Asked | Ruling): asked is Ruling {
  return 'is' in asked;
}

/** Returns facts about the job from the service, or the reason why the step cannot use it. */
async function askFor({ address, kind }: Step, jobId: string, library: Library): Promise<Asked | Ruling> {
  const facts = await library.job(kind, jobId);
  if (facts === undefined) {
    return refuse(
      address,
      `cannot have job ${jobId}: the service knows no ${kind} job of this id`,
      'check the id, and that it was made with this account; --offline records it all the same',
    );
  }
  if (facts.kind !== undefined && facts.kind !== kind) {
    return refuse(
      address,
      `is of kind ${kind}, and job ${jobId} is of kind ${facts.kind}`,
      'adopt it for a step of that kind',
    );
  }
  if (facts.status === envelope.states.failed) {
    const why = facts.error === undefined ? '' : `: ${facts.error}`;
    return refuse(
      address,
      `cannot have job ${jobId}: it failed${why}`,
      'apply buys the step; --offline records it all the same',
    );
  }
  if (kinds[kind]?.list === undefined) return facts.credits === undefined ? {} : { credits: facts.credits };
  const listed = (await library.jobs(kind, { limit: mostLookedThrough })).find((one) => one.jobId === jobId);
  const credits = facts.credits ?? listed?.credits;
  const recordId = listed?.recordId;
  return { ...(credits !== undefined && { credits }), ...(recordId !== undefined && { recordId }) };
}
