import { orFailure } from '../contract/failure.ts';
import type { Notice, Tell } from '../contract/notice.ts';
import type { Graph } from '../graph/graph.ts';
import { type Diagnostic, hasErrors } from '../ground/diagnostic.ts';
import { checkCall } from './check-call.ts';
import { type CheckedManifest, loadChecked } from './checked-graph.ts';
import { type OpenCampaign, type OpenOptions, openCampaign } from './open-campaign.ts';

/** A campaign as it was read: what `plan` needs. */
export interface Campaign extends OpenCampaign {
  /** Steps of the campaign. Omitted when a diagnostic is an error. */
  graph?: Graph;
  /** Every error and warning, with its position. */
  diagnostics: readonly Diagnostic[];
  /** Texts of the files that diagnostics point into, by file name. */
  sources: ReadonlyMap<string, string>;
  notices: readonly Notice[];
  checked: CheckedManifest;
}

/**
 * Reads a manifest and all files that it names: included files, data, uploads. Mistakes are in `diagnostics`; a file
 * that cannot be read throws. Sends nothing, and writes nothing.
 */
export async function load(file: string, options: OpenOptions = {}): Promise<Campaign> {
  checkCall('load', [file, options]);
  const { notices, tell } = collectNotices(options.tell);
  const opened = await openCampaign(file, { ...options, tell });
  const checked = await orFailure(loadChecked(opened, { isRun: true, asksLater: true }));
  const { diagnostics, sources, graph } = checked;
  for (const text of graph?.notices ?? []) tell({ is: 'notice', text });
  return { ...opened, ...(graph && !hasErrors(diagnostics) && { graph }), diagnostics, sources, notices, checked };
}

/** A `tell` that stores notices and passes them on. */
export function collectNotices(passOn: Tell = () => {}): { notices: readonly Notice[]; tell: Tell } {
  const notices: Notice[] = [];
  return {
    notices,
    tell(notice) {
      notices.push(notice);
      passOn(notice);
    },
  };
}
