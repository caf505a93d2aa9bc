import { hasUnknownNames, type LoadedManifest, loadManifest, loadWithNames } from '../campaign/load-manifest.ts';
import { failureOf } from '../contract/failure.ts';
import { fitHeap } from './fit-heap.ts';
import { open } from './open.ts';
import type { Terminal } from './terminal.ts';
import { collectVars } from './vars.ts';

/**
 * A manifest for commands that no service matters to – but for names that this version does not know: then what is kept
 * of the service that the environment names decides.
 */
export async function loadLocally(
  file: string,
  options: { var?: Record<string, string> | undefined; varFile?: string[] | undefined },
  terminal: Terminal,
): Promise<LoadedManifest> {
  const { varFile: varFiles } = options;
  const loaded = await loadManifest(file, { vars: collectVars(options.var), varFiles, onSize: fitHeap });
  if (!hasUnknownNames(loaded)) return loaded;
  try {
    return await loadWithNames(await open(file, { var: options.var, varFile: varFiles }, terminal));
  } catch (error) {
    // An environment that is wrong is no mistake of the manifest.
    if (failureOf(error) === undefined) throw error;
    return loaded;
  }
}
