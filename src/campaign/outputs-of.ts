import type { OutputFiles } from '../contract/ports.ts';
import { KeptFiles } from '../disk/outputs/kept-files.ts';
import { createOutputs } from '../disk/outputs/outputs.ts';
import { SavedFiles } from '../disk/outputs/saved-files.ts';
import type { OpenCampaign } from './open-campaign.ts';

/** Where the files of a campaign go on this machine. */
export function outputsOf({ paths, seen }: Pick<OpenCampaign, 'paths' | 'seen'>): OutputFiles {
  return createOutputs(paths.outputs, {
    seen,
    saved: new SavedFiles(paths.state, paths.outputs),
    kept: new KeptFiles(paths.state, paths.kept),
  });
}
