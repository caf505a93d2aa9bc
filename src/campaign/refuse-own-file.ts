import { basename, dirname, join } from 'node:path';
import { CampaignError } from '../contract/failure.ts';
import { readStart } from '../disk/fs/plain-file.ts';
import { isMap } from '../ground/values.ts';
import { type Advice, advise, call } from '../plan/advice.ts';
import { readPlanFile } from './read-plan-file.ts';

/** Bytes that are read: more than the first key of any file of ours. */
const startBytes = 256;

/** Says what a file is that mediabatch wrote, and that somebody gives where a manifest is meant. */
export async function refuseOwnFile(file: string): Promise<void> {
  if (!/\.jsonl?$/i.test(file)) return;
  const start = readStart(file, startBytes);
  const name = /^\s*\{[^{[]*?"mediabatch"\s*:\s*"([a-z ]{1,40})"/.exec(start ?? '')?.[1];
  if (name === undefined) return;
  const [what, hint] = await describe(name, file);
  throw new CampaignError({ code: 'MB1001', message: `${file} is ${what}, not a manifest`, hint, file });
}

async function describe(name: string, file: string): Promise<[string, Advice]> {
  switch (name) {
    case 'plan': {
      const { saved } = (await readPlanFile(file)) ?? {};
      if (!isMap(saved) || typeof saved.manifest !== 'string') {
        return ['a plan that was printed', 'name the manifest that it was made of'];
      }
      const apply = { ...call('apply'), file, bare: true } as const;
      const manifest = join(dirname(file), saved.manifest);
      return ['a saved plan', advise`${apply} does what it says; for everything else name its manifest, ${manifest}`];
    }
    case 'lock': {
      const [, campaign, sandbox] = /^(.+?)(\.sandbox)?\.lock\.jsonl$/i.exec(basename(file)) ?? [];
      if (campaign === undefined)
        return ['a lock', 'name the manifest that it belongs to, and give this one with --lock'];
      const manifest = join(dirname(file), `${campaign}.yaml`);
      const more = sandbox === undefined ? '' : ', with --sandbox';
      return ['the lock of a campaign', `name its manifest: ${manifest}${more}`];
    }
    default:
      return [`what mediabatch wrote about a campaign (${name})`, 'name the manifest of the campaign'];
  }
}
