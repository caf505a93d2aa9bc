import { mkdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import type { AccountFacts } from '../../cluster/account-id.ts';
import type { Seal } from '../../cluster/seal.ts';
import { CampaignError } from '../../contract/failure.ts';
import { prepareStateFolder } from '../../disk/state/state-folder.ts';
import type { Lock } from '../../lock/record.ts';
import type { Plan } from '../../plan/plan.ts';
import type { EngineChoice } from '../apply-options.ts';
import { embedSandbox, type RunningSandbox, sandboxKey } from '../embed-sandbox.ts';
import { type Access, requireAccess } from '../environment.ts';
import type { OpenCampaign } from '../open-campaign.ts';
import type { RehearsalOptions } from '../options.ts';
import { rehearse } from '../rehearse.ts';

/** Whose runs those of a campaign are. Every embedded sandbox is an account of its own. */
export function accountFacts({ sandbox, paths, environment }: OpenCampaign): AccountFacts {
  if (!sandbox) return requireAccess(environment);
  const folder = join(paths.state, 'sandbox');
  mkdirSync(folder, { recursive: true });
  return { sandbox: realpathSync(folder) };
}

/** With what its runs are sealed on an engine: workers open them with the same key. */
export async function sealOf({ sandbox, environment }: Pick<OpenCampaign, 'sandbox' | 'environment'>): Promise<Seal> {
  const { makeSeal } = await import('../../cluster/seal.ts');
  return makeSeal(sandbox ? sandboxKey : requireAccess(environment).token);
}

/** The engine that was named: `embedded` is one of the campaign's own, which ends with this process. */
export async function addressOf(
  { url }: Pick<EngineChoice, 'url'>,
  { paths }: Pick<OpenCampaign, 'paths'>,
): Promise<{ url: string; shown?: string; close(): Promise<void> }> {
  if (url !== 'embedded') return { url, close: async () => {} };
  const { openEmbedded } = await import('../../cluster/database/embedded.ts');
  for (const name of ['engine', 'sandbox']) await prepareStateFolder(paths.state, name);
  return { ...(await openEmbedded(join(paths.state, 'engine'))), shown: 'the embedded engine' };
}

/** Helpers that run beside this process for a run, and end with it: the embedded sandbox, and workers. */
export interface Helpers {
  access: Access;
  close(): Promise<void>;
}

/** Starts the helpers. `begin`: a plan about to be submitted; absent when a run that was submitted goes on. */
export async function startHelpers(
  campaign: OpenCampaign,
  of: {
    workers: EngineChoice['workers'];
    store: string | undefined;
    url: string;
    rehearsal: RehearsalOptions | undefined;
    begin?: { plan: Plan; lock: Lock };
    onRefused(why: CampaignError): void;
  },
): Promise<Helpers> {
  const { workers, store, url, onRefused } = of;
  const embedded = campaign.sandbox ? await openSandbox(campaign, of) : undefined;
  const access =
    embedded === undefined ? requireAccess(campaign.environment) : { baseUrl: embedded.url, token: sandboxKey };
  const facts = accountFacts(campaign);
  if (workers === undefined) return { access, close: async () => embedded?.close() };
  const { startWorkers } = await import('../../cluster/worker/start-workers.ts');
  const started = startWorkers({
    ...workers,
    command: [...workers.command, ...(store === undefined ? [] : ['--store', store])],
    env: {
      ...workers.env,
      // Whoever started them says how the run has ended.
      MEDIABATCH_NOTIFY_URL: undefined,
      MEDIABATCH_ENGINE: url,
      MEDIABATCH_BASE_URL: access.baseUrl,
      MEDIABATCH_API_KEY: access.token,
      ...('sandbox' in facts && {
        MEDIABATCH_SANDBOX_FOLDER: facts.sandbox,
        // Told that there is play money only, they would not ask the sandbox of this process. No limit bounds play money.
        MEDIABATCH_SANDBOX: undefined,
        MEDIABATCH_LIMIT: undefined,
      }),
    },
    onLost: (said) => campaign.tell({ is: 'notice', text: `a worker has ended, and another one starts: ${said}` }),
    onRefused(said) {
      const message = `a worker cannot start: ${said}`;
      const hint = 'the run stays on the engine; once that is mended, apply again';
      onRefused(new CampaignError({ code: 'MB3706', message, hint }));
    },
  });
  return {
    access,
    async close() {
      await started.close();
      await embedded?.close();
    },
  };
}

function openSandbox(
  { paths }: OpenCampaign,
  { rehearsal = {}, begin }: { rehearsal: RehearsalOptions | undefined; begin?: { plan: Plan; lock: Lock } },
): Promise<RunningSandbox> {
  if (begin !== undefined) return rehearse(begin.plan, { options: rehearsal, paths, lock: begin.lock });
  const { speed = 5, failRate = 0 } = rehearsal;
  return embedSandbox({ dataDir: join(paths.state, 'sandbox'), port: 0, speed, failRate });
}
