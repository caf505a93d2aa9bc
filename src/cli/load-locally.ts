import { type LoadedManifest, loadManifest } from '../campaign/load-manifest.ts';
import type { OpenCampaign } from '../campaign/open-campaign.ts';
import { failureOf } from '../contract/failure.ts';
import { fitHeap } from './fit-heap.ts';
import { open } from './open.ts';
import type { Terminal } from './terminal.ts';
import { collectVars } from './vars.ts';

/**
 * A manifest for commands that ask no service: held against what is kept of the one that the environment names, as a plan
 * would be.
 */
export async function loadLocally(
  file: string,
  options: { var?: Record<string, string> | undefined; varFile?: string[] | undefined; strict?: boolean | undefined },
  terminal: Terminal,
): Promise<LoadedManifest> {
  const { varFile: varFiles, strict } = options;
  const plain = () => loadManifest(file, { vars: collectVars(options.var), varFiles, strict, onSize: fitHeap });
  let campaign: OpenCampaign;
  try {
    campaign = await open(file, { var: options.var, varFile: varFiles, strict }, terminal);
  } catch (error) {
    // An environment that is wrong is no mistake of the manifest.
    if (failureOf(error) === undefined) throw error;
    return plain();
  }
  if (campaign.service === undefined) return plain();
  const { loadChecked } = await import('../campaign/checked-graph.ts');
  return loadChecked(campaign, {});
}
