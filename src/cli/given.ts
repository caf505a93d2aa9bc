import { readFileSync, statSync } from 'node:fs';
import type { OpenCampaign } from '../campaign/open-campaign.ts';
import { digestOf } from '../disk/outputs/hash-file.ts';
import type { ApplyOptions } from './apply-options.ts';

/**
 * Digest of all that a plan depends on beside files: this program, and what a person gave it. Undefined when more is wanted
 * than to be told that nothing is to do.
 */
export function digestOfGiven(options: ApplyOptions, campaign: OpenCampaign): string | undefined {
  if (options.json || options.all || options.events !== undefined || options.redo !== undefined) return undefined;
  // How a run goes on about its work changes nothing about what there is to do. What is not named here does.
  const {
    yes,
    publish,
    lockTimeoutMs,
    requestTimeoutMs,
    patienceMs,
    creditWaitMs,
    pollIntervalMs,
    onError,
    ...others
  } = options;
  const { sandboxCredits, sandboxSpeed, sandboxFailRate, notify, notifyDetails, ...planned } = others;
  const { file, paths, vars, service, replays } = campaign;
  const given = { file, paths, planned, vars, service, replays };
  const version = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  // A build of the same version may be another program.
  const built = statSync(process.argv[1] ?? '', { throwIfNoEntry: false })?.mtimeMs;
  return digestOf(Buffer.from(JSON.stringify([version, built, process.version, given]))).sha256;
}
