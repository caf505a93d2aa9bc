import { realpath } from 'node:fs/promises';
import { basename } from 'node:path';
import { hasKey, readEnvironment } from '../../campaign/environment.ts';
import { type FoundLock, findLocks } from '../../campaign/find-locks.ts';
import { listJobs, listUploads, type OpenAccess, withLibrary } from '../../campaign/with-library.ts';
import { systemClock } from '../../contract/clock.ts';
import { CampaignError, type Failure, failureOf, serviceFailure } from '../../contract/failure.ts';
import { findWayOut } from '../../disk/fs/own-tree.ts';
import { type Digest, hashFile } from '../../disk/outputs/hash-file.ts';
import { hasErrors } from '../../ground/diagnostic.ts';
import { defined, messageOf } from '../../ground/values.ts';
import { voices as documentedVoices, kinds } from '../../kinds/index.ts';
import { type CatalogModel, kindName, readCatalog } from '../../kinds/listed-model.ts';
import { isAssetUrl } from '../../lock/check-line.ts';
import { jsonOf } from '../../report/document.ts';
import { countOf } from '../../report/numbers.ts';
import { safeText } from '../../report/safe-text.ts';
import {
  accountsJson,
  accountsView,
  type JobRow,
  jobsView,
  type ModelRow,
  modelsView,
  type UploadRow,
  uploadsView,
  type VoiceRow,
  voicesView,
} from '../../report/tables/lists.ts';
import { type Library, type ListedJob, ServiceError } from '../../service/library.ts';
import { mostLookedThrough } from '../../service/listing.ts';
import type { Flags, Texts } from '../open.ts';
import { unknownName } from '../program/usage-errors.ts';
import { listenForInterruption } from '../signals.ts';
import { exitOfItems, outAs, printNotice, type Terminal } from '../terminal.ts';

export type ServiceOptions = Flags<'json' | 'sandbox'>;

/**
 * Connects to the service or the sandbox of the working directory while `use` runs. `keeps`: whether a sandbox without
 * stored state stores its state.
 */
export function withService<T>(
  { sandbox = false, keeps = false }: ServiceOptions & { keeps?: boolean },
  use: (open: OpenAccess) => Promise<T>,
): Promise<T> {
  const folder = process.cwd();
  return withLibrary({ environment: sandbox ? {} : readEnvironment(process.env, folder), sandbox, folder, keeps }, use);
}

/** Queries the service. Returns the documented rows if there is no API key or the service does not answer. */
async function askService<Row>(
  what: 'models' | 'voices',
  documented: Row[],
  { options, terminal, ask }: { options: ServiceOptions; terminal: Terminal; ask(library: Library): Promise<Row[]> },
): Promise<{ listed: Row[]; source: 'service' | 'documented' }> {
  const fallBack = (why: string) => {
    printNotice(terminal, `${why}; the list shows the ${what} in the documentation of the service`);
    return { listed: documented, source: 'documented' as const };
  };
  if (options.sandbox !== true && !hasKey(readEnvironment(process.env, process.cwd())))
    return fallBack('the service was not queried, because MEDIABATCH_API_KEY is not set');
  try {
    return { listed: await withService(options, ({ library }) => ask(library)), source: 'service' };
  } catch (error) {
    const failure = failureOf(error);
    const isBearable = failure !== undefined && ['MB3203', 'MB3204', 'MB3205'].includes(failure.code);
    if (!isBearable) throw error;
    return fallBack(safeText(failure.message));
  }
}

function filterBy<Row>(
  rows: readonly Row[],
  wanted: string | undefined,
  by: { name: string; of: (row: Row) => string | undefined },
): readonly Row[] {
  if (wanted === undefined) return rows;
  const found = rows.filter((row) => by.of(row)?.toLowerCase() === wanted.trim().toLowerCase());
  const known = [...new Set(rows.flatMap((row) => by.of(row) ?? []))].sort();
  if (found.length === 0) throw unknownName(`no ${by.name}`, wanted, known);
  return found;
}

export async function models(options: ServiceOptions & Texts<'kind'>, terminal: Terminal): Promise<void> {
  const ask = async (library: Library) => mergeModels(readCatalog(await library.catalog()));
  const { listed, source } = await askService('models', mergeModels([]), { options, terminal, ask });
  const rows = filterBy(listed, options.kind, { name: 'kind with models', of: ({ kind }) => kind });
  await outAs(terminal, options, {
    text: () => modelsView(rows),
    json: () => jsonOf('models', { source, models: rows }),
  });
}

/** Merges models by kind, documented models first. Prices of the catalog override documented prices. */
function mergeModels(catalog: readonly CatalogModel[]): ModelRow[] {
  const rows = Object.values(kinds).flatMap((kind) =>
    Object.entries(kind.model?.models ?? {}).map(
      ([model, facts]): ModelRow => ({
        kind: kind.name,
        model,
        credits: facts.credits ?? null,
        isDefault: kind.model?.default === model,
        known: 'documented',
        notes: facts.description,
        ...defined({ aliasOf: facts.aliasOf }),
      }),
    ),
  );
  for (const entry of catalog) addEntry(rows, entry);
  const order = Object.keys(kinds);
  const place = ({ kind }: ModelRow) => (order.includes(kind) ? order.indexOf(kind) : order.length);
  return rows.sort((a, b) => place(a) - place(b));
}

function addEntry(rows: ModelRow[], { model, kind: given, credits, per, aliasOf, description }: CatalogModel): void {
  const kind = given && kindName(given, kinds);
  const row = rows.find((known) => known.model === model && (kind === undefined || known.kind === kind));
  if (row === undefined) {
    rows.push({
      ...{ kind: kind ?? '?', model, credits: credits ?? null, isDefault: false, known: 'catalog' },
      ...defined({ per, aliasOf }),
      notes: description === undefined || description === model ? '' : description,
    });
    return;
  }
  if (row.known === 'documented') row.known = 'both';
  if (credits === undefined || (credits === row.credits && per === undefined)) return;
  if (row.credits !== null) row.notes = `${row.notes} Documented: ${row.credits} credits.`.trim();
  Object.assign(row, { credits }, defined({ per }));
}

type VoicesOptions = ServiceOptions & Texts<'gender' | 'accent'>;

export async function voices(options: VoicesOptions, terminal: Terminal): Promise<void> {
  const ask = async (library: Library) =>
    (await library.voices()).map(
      ({ previewUrl, ...voice }): VoiceRow => ({ ...voice, ...(isAssetUrl(previewUrl) && { previewUrl }) }),
    );
  const documented = Object.entries(documentedVoices).map(([id, facts]): VoiceRow => ({ id, ...facts }));
  const { listed, source } = await askService('voices', documented, { options, terminal, ask });
  const ofGender = filterBy(listed, options.gender, { name: 'gender', of: (voice) => voice.gender });
  const rows = filterBy(ofGender, options.accent, {
    name: 'matching voice with the accent',
    of: (voice) => voice.accent,
  });
  await outAs(terminal, options, {
    text: () => voicesView(rows),
    json: () => jsonOf('voices', { source, voices: rows }),
  });
}

export async function accounts(options: ServiceOptions, terminal: Terminal): Promise<void> {
  const { accounts: rows } = await withService(options, ({ library }) => library.accounts());
  const now = systemClock.now();
  await outAs(terminal, options, { text: () => accountsView(rows, now), json: () => accountsJson(rows, now) });
  if (rows.length === 0) terminal.err('no account is connected; connect an account in the dashboard of the service\n');
}

export async function uploads(options: ServiceOptions, terminal: Terminal): Promise<void> {
  const rows = await withService(options, ({ access, library }) => listUploads(library, access));
  if (rows === undefined) {
    throw new CampaignError({
      code: 'MB3205',
      message:
        'this service has no list of its media library: neither its documentation nor its OpenAPI document names GET /uploads',
      hint: 'the lock contains the URL of every uploaded file; `explain STEP` shows the URL of one step',
    });
  }
  const now = systemClock.now();
  await outAs(terminal, options, {
    text: () => uploadsView(rows, now),
    json: () => jsonOf('uploads', { uploads: rows, failed: [] }),
  });
  if (rows.length === 0) terminal.err('the media library is empty\n');
}

type JobsOptions = ServiceOptions & Texts<'kind'> & Flags<'unknown'> & { limit: number };

export async function jobs(options: JobsOptions, terminal: Terminal): Promise<void> {
  const { kind, limit, unknown } = options;
  const made = Object.values(kinds).filter(({ act }) => act !== 'upload');
  const listable = made.filter(({ list }) => list !== undefined).map(({ name }) => name);
  if (kind !== undefined && !listable.includes(kind)) throw unknownName('no list of jobs of kind', kind, listable);
  const wanted = kind === undefined ? listable : [kind];
  const locks = await findLocks(process.cwd(), { sandbox: options.sandbox === true });
  for (const { shown, problem, reading } of locks) {
    const isWrong = reading !== undefined && hasErrors(reading.diagnostics);
    const why = problem ?? (isWrong ? 'the lock is damaged; only its readable part was used' : undefined);
    if (why !== undefined) printNotice(terminal, `${shown}: ${why}`);
  }
  const onUnread = (name: string, error: unknown) => {
    // If the service refuses the job list of one kind, the lists of the other kinds are still shown.
    const isOnlyThis = error instanceof ServiceError && (error.why === 'refused' || error.why === 'unusable');
    if (!isOnlyThis || wanted.length === 1) throw error;
    printNotice(terminal, `the ${name} jobs cannot be listed: ${error.message}`);
  };
  const terms = { limit: unknown === true ? mostLookedThrough : limit + 1, onUnread };
  const listed = await withService(options, ({ library }) => listJobs(library, wanted, terms));
  const rows = withSteps(listed, locks).sort((a, b) => timeOf(b) - timeOf(a));
  const chosen = rows.filter(({ step }) => unknown !== true || step === undefined);
  const shown = chosen.slice(0, limit);
  const more = chosen.length > shown.length;
  const unlisted = kind === undefined ? made.map(({ name }) => name).filter((name) => !listable.includes(name)) : [];
  await outAs(terminal, options, {
    text: () => jobsView(shown, systemClock.now()),
    json: () =>
      jsonOf('jobs', {
        jobs: shown.map(({ step = null, ...job }) => ({ ...job, step })),
        ...{ more, unlisted, locks: locks.map((lock) => lock.shown) },
      }),
  });
  if (options.json === true) return;
  const strangers = shown.filter(({ step }) => step === undefined).length;
  terminal.err(
    `${countOf(shown.length, 'job')}${more ? ', and more: raise --limit' : ''}; ${strangers} not in any lock (${countOf(locks.length, 'lock')} in this folder)\n`,
  );
  if (unlisted.length > 0) terminal.err(`the service has no list of ${unlisted.join(', ')} jobs\n`);
}

function withSteps(listed: readonly ListedJob[], locks: readonly FoundLock[]): JobRow[] {
  const steps = new Map<string, { step: JobRow['step']; credits?: number }>();
  for (const { shown, reading } of locks) {
    for (const { address, purchases } of reading?.lock.steps.values() ?? []) {
      for (const { jobId, credits } of purchases) {
        if (jobId !== undefined) steps.set(jobId, { step: { lock: shown, address }, ...defined({ credits }) });
      }
    }
  }
  return listed.map(({ recordId: _recordId, echoes: _echoes, ...job }) => ({
    ...job,
    ...defined({ ...steps.get(job.jobId), ...defined({ credits: job.credits }) }),
  }));
}

function timeOf({ createdAt }: JobRow): number {
  return Date.parse(createdAt ?? '') || 0;
}

type LocalFile = Digest & Record<'given' | 'path', string>;

export async function upload(files: string[], options: ServiceOptions, terminal: Terminal): Promise<number> {
  const local: LocalFile[] = [];
  for (const file of files) local.push(await readLocalFile(file));
  const { err, style, screen } = terminal;
  const rows: UploadRow[] = [];
  const failed: { name: string; error: string }[] = [];
  const uploadOne = async (library: Library, file: LocalFile, signal: AbortSignal) => {
    const { given, path, sha256, bytes } = file;
    const name = basename(given);
    if (screen) err(style.dim(`uploading ${safeText(given)} (${local.indexOf(file) + 1} of ${local.length})\n`));
    const { id, url } = await library.upload({ path, fileName: name, bytes, sha256 }, signal);
    rows.push({ name, url, id, bytes });
  };
  const ended = await withService({ ...options, keeps: true }, ({ library }) =>
    treatEach(local, terminal, {
      treat: (file, signal) => uploadOne(library, file, signal),
      onFailed({ given }, error) {
        failed.push({ name: given, error });
        err(`${style.red('failed')} ${safeText(given)}: ${safeText(error)}\n`);
      },
    }),
  );
  await outAs(terminal, options, {
    text: () => uploadsView(rows),
    json: () => jsonOf('uploads', { uploads: rows, failed }),
  });
  return exitOfItems(terminal, { failed: failed.length, ended });
}

/**
 * Processes items in sequence. Skips the remaining items after a signal, or if the service refuses the key or is
 * unreachable. Returns why it skipped items.
 */
export async function treatEach<Item>(
  items: readonly Item[],
  terminal: Terminal,
  on: { treat(item: Item, signal: AbortSignal): Promise<void>; onFailed(item: Item, error: string): void },
): Promise<Failure | 'interrupted' | undefined> {
  const { signal, stop } = listenForInterruption(() => terminal.err('\n'));
  try {
    for (const item of items) {
      if (signal.aborted) return 'interrupted';
      try {
        await on.treat(item, signal);
      } catch (error) {
        if (signal.aborted) return 'interrupted';
        if (!(error instanceof ServiceError)) throw error;
        if (error.why === 'auth' || error.why === 'unreachable') return serviceFailure(error);
        on.onFailed(item, error.message);
      }
    }
    return undefined;
  } finally {
    stop();
  }
}

async function readLocalFile(given: string): Promise<LocalFile> {
  const wrong = (why: string) =>
    new CampaignError({
      code: 'MB3104',
      message: `${given} cannot be uploaded: ${why}`,
      hint: 'nothing was uploaded',
      file: given,
    });
  // An uploaded file becomes public, so a symbolic link in a git branch must not select it.
  const wayOut = findWayOut(given);
  if (wayOut !== undefined) throw wrong(wayOut);
  const path = await realpath(given).catch(({ code, message }: NodeJS.ErrnoException) => {
    throw wrong(code === 'ENOENT' || code === 'ENOTDIR' ? 'the file does not exist' : message);
  });
  const digest = await hashFile(path).catch((error: unknown) => {
    throw wrong(messageOf(error));
  });
  if (digest === undefined) throw wrong('the file does not exist');
  if (digest.bytes === 0) throw wrong('it is empty');
  return { given, path, ...digest };
}
