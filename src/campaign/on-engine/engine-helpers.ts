import type { Seal } from '../../cluster/seal.ts';
import { requireAccess } from '../environment.ts';
import type { OpenCampaign } from '../open-campaign.ts';

/** Returns the cipher for a campaign's runs on an engine. Workers decrypt them with the same API key. */
export async function sealOf({ environment }: Pick<OpenCampaign, 'environment'>): Promise<Seal> {
  const { makeSeal } = await import('../../cluster/seal.ts');
  return makeSeal(requireAccess(environment).token);
}
