import type { Engine } from '../../cluster/open-engine.ts';
import { systemClock } from '../../contract/clock.ts';
import type { Access } from '../environment.ts';
import type { OpenCampaign } from '../open-campaign.ts';
import { outputsOf } from '../outputs-of.ts';

/** Files that are saved at once: as many as on one machine. */
const filesAtOnce = 16;
const requestTimeoutMs = 30_000;

/**
 * Saves the files of a run that has no store into the campaign's own folder, until the signal is aborted. While nobody is
 * attached, they, and what is made from them, wait.
 */
export async function serveOwnFiles(
  { database: db, boss, account }: Engine,
  campaign: OpenCampaign,
  { name, access, signal }: { name: string; access: Access; signal: AbortSignal },
): Promise<void> {
  const [{ serveFiles }, { placeOf }, { makeSeal }, { Slots }, { createDownloader }, { makeRedact }] =
    await Promise.all([
      import('../../cluster/serve-files.ts'),
      import('../../cluster/file-task.ts'),
      import('../../cluster/seal.ts'),
      import('../../cluster/slots.ts'),
      import('../../service/download.ts'),
      import('../../service/secrets.ts'),
    ]);
  const { baseUrl, token } = access;
  const downloads = createDownloader({ baseUrl, redact: makeRedact(token), requestTimeoutMs });
  const files = outputsOf(campaign);
  try {
    await serveFiles({
      ...{ db, boss, account, signal, downloads },
      clock: systemClock,
      place: placeOf({ store: null, campaign: name }),
      seal: makeSeal(token),
      worker: 'apply',
      slots: new Slots(filesAtOnce),
      filesOf: () => files,
    });
  } finally {
    await downloads.close();
  }
}
