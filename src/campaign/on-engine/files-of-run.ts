import { createHash } from 'node:crypto';
import type { Engine } from '../../cluster/open-engine.ts';
import { makeSeal } from '../../cluster/seal.ts';
import { openStore } from '../../cluster/store/store.ts';
import { type Store, type StoreFiles, StoreMissingError } from '../../cluster/store/store-marker.ts';
import { fetchNamed, placeOf, serveFiles } from '../../cluster/worker/serve-files.ts';
import { systemClock } from '../../contract/clock.ts';
import { OutputError } from '../../contract/errors.ts';
import { CampaignError } from '../../contract/failure.ts';
import type { Notify } from '../../contract/notice.ts';
import type { OutputFiles } from '../../contract/ports.ts';
import { checkOutputs } from '../../disk/outputs/check-outputs.ts';
import { Places } from '../../ground/places.ts';
import { kinds } from '../../kinds/index.ts';
import { isOutputPath } from '../../lock/check-line.ts';
import type { Lock, Output, StepRecord } from '../../lock/record.ts';
import { createDownloader } from '../../service/download.ts';
import { makeRedact } from '../../service/secrets.ts';
import type { Access } from '../environment.ts';
import type { OpenCampaign } from '../open-campaign.ts';
import { outputFilesOf } from '../outputs-on-disk.ts';

export async function findStore(name: string): Promise<Store | undefined> {
  return openStore(name, { makes: false }).catch((error: unknown) => {
    if (error instanceof StoreMissingError) return undefined;
    throw error;
  });
}

/**
 * Returns the store from which this client copies files. `stay`: without `--store`, the files stay in the store.
 * `undefined`: the run has no store, so this client downloads the files. Throws MB3705 if the user named another store.
 */
export async function storeOfRun(
  run: { campaign: string; store: string | null },
  name: string | undefined,
  notify: Notify,
): Promise<StoreFiles | 'stay' | undefined> {
  const notice = (text: string) => notify({ is: 'notice', text });
  if (run.store === null) {
    if (name !== undefined)
      notice(
        'the run was submitted without --store: while this command watches the run, it saves the files on this machine',
      );
    return undefined;
  }
  if (name === undefined) {
    notice('--store is missing, so the files in the store of the run are not downloaded to this machine');
    return 'stay';
  }
  const store = await findStore(name);
  if (store?.id === run.store) return store.filesOf(run.campaign);
  throw new CampaignError({
    code: 'MB3705',
    message: `the run was submitted with a --store other than ${name}`,
    hint: 'use the --store with which the run was submitted, or remove --store to watch the run without its files. Nothing was sent',
  });
}

const filesAtOnce = 16;
const requestTimeoutMs = 30_000;

export async function serveOwnFiles(
  { database: db, boss, account }: Engine,
  campaign: OpenCampaign,
  { name, access, signal }: { name: string; access: Access; signal: AbortSignal },
): Promise<void> {
  const { baseUrl, token } = access;
  const downloads = createDownloader({ baseUrl, redact: makeRedact(token), requestTimeoutMs });
  const outputs = fetchNamed(downloads, outputFilesOf(campaign));
  try {
    await serveFiles({
      ...{ db, boss, account, signal },
      clock: systemClock,
      place: placeOf({ store: null, campaign: name }),
      seal: makeSeal(token),
      worker: 'apply',
      slots: new Places(filesAtOnce),
      outputsOf: () => outputs,
    });
  } finally {
    await downloads.close();
  }
}

export interface MissingFile {
  record: Pick<StepRecord, 'address' | 'kind'>;
  output: Output;
  replaces?: readonly string[];
}

export async function findMissingFiles(
  { paths, seen }: Pick<OpenCampaign, 'paths' | 'seen'>,
  { steps }: Lock,
  outcomes: { readonly [step: string]: string },
): Promise<MissingFile[]> {
  const files = Object.keys(outcomes).flatMap((address) => {
    const record = outcomes[address] === 'done' ? steps.get(address) : undefined;
    const [newest] = record?.purchases ?? [];
    if (record === undefined || newest?.state !== 'done') return [];
    return (newest.outputs ?? []).map((output) => ({ record, output })).filter(isNeeded);
  });
  const states = await checkOutputs(
    paths.outputs,
    files.map(({ output }) => output),
    { seen },
  );
  return files.filter(({ output }) => states.get(output.path) === 'missing');
}

function isNeeded({ record, output }: MissingFile): boolean {
  return mediaOf(record) !== undefined && isOutputPath(output.path);
}

function mediaOf({ kind }: MissingFile['record']) {
  const media = kinds[kind]?.media;
  return media === 'none' ? undefined : media;
}

const atOnce = 8;
const mostTries = 3;

interface Ways {
  from: Pick<StoreFiles, 'read'>;
  to: string;
  outputs: OutputFiles;
  notify: Notify;
  signal: AbortSignal;
}

/** Copies files from a store to the campaign's folder, and verifies their digests. Existing files stay unchanged. */
export class FileFetcher {
  readonly #ways: Ways;
  readonly #queue = new Places(atOnce);
  readonly #brought = new Map<string, Promise<void>>();
  readonly missing: string[] = [];
  trouble = 'the store has no file with the content that the lock records';

  constructor(ways: Ways) {
    this.#ways = ways;
  }

  add(files: readonly MissingFile[]): void {
    for (const file of files) {
      const { path, sha256 } = file.output;
      const id = `${sha256} ${path}`;
      if (!isNeeded(file) || this.#brought.has(id)) continue;
      const brought = this.#queue.use(() => this.#fetchFile(file));
      // `end` reports the error.
      brought.catch(() => {});
      this.#brought.set(id, brought);
    }
  }

  async end(): Promise<void> {
    await Promise.all(this.#brought.values());
  }

  async #fetchFile(file: MissingFile): Promise<void> {
    const { output } = file;
    if ((await checkOutputs(this.#ways.to, [output])).get(output.path) === 'intact') return;
    if (!(await this.#copy(file))) this.missing.push(output.path);
  }

  async #copy({ record, output, replaces = [] }: MissingFile): Promise<boolean> {
    const { from, outputs, notify, signal } = this.#ways;
    const { path, bytes, type } = output;
    const media = mediaOf(record);
    if (media === undefined) return false;
    const save = path.replace(/\.[^./]+$/, '');
    const notice = (text: string) => notify({ is: 'notice', text });
    const target = { address: record.address, media, save, replaces, notice };
    for (let tries = 1; tries <= mostTries && !signal.aborted; tries += 1) {
      try {
        const body = await from.read(output);
        if (body === undefined) return false;
        await outputs.save(target, { body: checked(body, output, signal), bytes, type });
        return true;
      } catch (error) {
        if (!(error instanceof OutputError)) throw error;
        if (error.why === 'bad-bytes') continue;
        this.trouble = error.message;
        return false;
      }
    }
    return false;
  }
}

/** Throws after the last byte if the digest is wrong, so that the temporary file is not renamed. */
async function* checked(
  body: AsyncIterable<Uint8Array>,
  { path, sha256 }: Output,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const digest = createHash('sha256');
  for await (const chunk of body) {
    if (signal.aborted) throw new Error('interrupted');
    digest.update(chunk);
    yield chunk;
  }
  if (digest.digest('hex') !== sha256) throw new Error(`${path} has different content in the store`);
}
