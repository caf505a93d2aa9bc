import { type LoadedManifest, loadManifest } from '../campaign/load-manifest.ts';
import type { OpenCampaign } from '../campaign/open-campaign.ts';
import { failureOf } from '../contract/failure.ts';
import { hasErrors } from '../ground/diagnostic.ts';
import { isPost } from '../plan/posts/post-record.ts';
import { fitHeap } from './fit-heap.ts';
import { collectVars, open, type StateOptions } from './open.ts';
import type { Terminal } from './terminal.ts';

export interface LoadedLocally extends LoadedManifest {
  /** Whether the manifest was checked against the service's own document. */
  hasDocument: boolean;
}

/**
 * Loads a manifest for commands that do not query the service. Checks it, like a plan, against the stored document of
 * the service in the environment, or that of the sandbox; and checks unpublished posts against the clock.
 */
export async function loadLocally(
  file: string,
  options: Pick<StateOptions, 'sandbox' | 'var' | 'varFile' | 'strict'>,
  terminal: Terminal,
): Promise<LoadedLocally> {
  const { varFile: varFiles, strict } = options;
  const plain = async () => {
    const loaded = await loadManifest(file, { vars: collectVars(options.var), varFiles, strict, onSize: fitHeap });
    return { ...loaded, hasDocument: false };
  };
  let campaign: OpenCampaign;
  try {
    campaign = await open(file, options, terminal);
  } catch (error) {
    // A wrong environment is no mistake of the manifest.
    if (failureOf(error) === undefined) throw error;
    return plain();
  }
  const loaded = campaign.service === undefined ? await plain() : await loadByDocument(campaign);
  if (hasErrors(loaded.diagnostics) || loaded.graph?.steps.some(({ kind }) => isPost(kind)) !== true) return loaded;
  const { checkUnsent } = await import('../campaign/look-at-posts.ts');
  return { ...loaded, diagnostics: [...loaded.diagnostics, ...(await checkUnsent(campaign, loaded))] };
}

async function loadByDocument(campaign: OpenCampaign): Promise<LoadedLocally> {
  const { loadChecked } = await import('../campaign/checked-graph.ts');
  const checked = await loadChecked(campaign, {});
  return { ...checked, hasDocument: checked.facts.document !== undefined };
}
