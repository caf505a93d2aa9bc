import { dirname, extname, join, relative, resolve } from 'node:path';
import { OutputError } from '../contract/errors.ts';
import { CampaignError } from '../contract/failure.ts';
import { isErrno, readSmallFile } from '../disk/fs/plain-file.ts';
import { measureFiles } from '../disk/outputs/measure-files.ts';
import { prepareOutputFolder } from '../disk/outputs/output-path.ts';
import type { StepRows } from '../graph/expansion.ts';
import { defined, messageOf } from '../ground/values.ts';
import type { Output } from '../lock/record.ts';
import { outputsToCheck } from '../plan/assemble.ts';
import { type FoundOutput, findSaved, listOutputs, type PostEntry } from '../plan/outputs/list-outputs.ts';
import { withFiles } from '../plan/situation/situation.ts';
import { countOf } from '../report/numbers.ts';
import {
  isOwnList,
  type ListFormat,
  listFormatOf,
  type OutputsList,
  outputsList,
  outputsTable,
} from '../report/outputs/outputs-list.ts';
import { requireTracedGraph } from './load-manifest.ts';
import type { OpenCampaign } from './open-campaign.ts';
import { type PlanningOptions, wrongOptions } from './option-table.ts';
import { inspectOutputs } from './outputs-on-disk.ts';
import { type OwnFile, saveOwnFile } from './own-file.ts';
import type { CampaignPaths } from './paths.ts';
import { makeSelector } from './select-steps.ts';
import { Session } from './session.ts';

export function ownList(format: ListFormat): Pick<OwnFile, 'isOwn' | 'what'> {
  return { isOwn: (start) => isOwnList(format, start), what: 'list of outputs that mediabatch wrote' };
}

const mostBytes = 1 << 29;

export function readOutputsList(path: string): string | undefined {
  return readSmallFile(path, mostBytes)?.toString('utf8');
}

export async function saveOutputsList(
  path: string,
  found: FoundOutputs,
  {
    format,
    paths,
    name,
  }: { format: ListFormat; paths: Pick<CampaignPaths, 'lock' | 'outputs'> } & Pick<OwnFile, 'name'>,
): Promise<void> {
  const view = { ...found, folder: folderFrom(dirname(resolve(path)), paths.outputs) };
  const own = { ...ownList(format), lock: paths.lock, ...defined({ name }) };
  await saveOwnFile(path, format === 'xlsx' ? await workbookOf(view) : outputsList(view, format, 'file'), own);
}

async function workbookOf(view: OutputsList): Promise<Uint8Array> {
  const { writeWorkbook } = await import('../disk/workbook/write-workbook.ts');
  const workbook = writeWorkbook(outputsTable(view), 'outputs');
  if (workbook !== undefined) return workbook;
  const message = `--out: ${countOf(view.files.length, 'file')} do not fit into one sheet`;
  throw wrongOptions(message, 'write a .csv file, or select fewer steps', '--out');
}

export function folderFrom(from: string, folder: string): string {
  const path = relative(from, folder).replaceAll('\\', '/');
  return path === '' ? '' : join(path, '/').replaceAll('\\', '/');
}

/** Writes the list of outputs at the end of a run. Errors only cause a notice. */
export async function keepIndex(campaign: OpenCampaign, index: string | undefined): Promise<void> {
  const format = index === undefined ? undefined : listFormatOf(extname(index));
  if (index === undefined || format === undefined) return;
  const { paths, notify } = campaign;
  try {
    const { target } = await prepareOutputFolder(paths.outputs, index);
    // The plan has already shown the notices about the campaign.
    const found = await findOutputs({ ...campaign, notify: () => {} }, {});
    // The measurements are stored, so that the next list need not open the files.
    await campaign.measures.keep();
    const listed = readOutputsList(target)?.match(/\b[0-9a-f]{64}\b/g) ?? [];
    if (listed.length > 0 && !listed.some(found.isOnRecord)) {
      const why = 'lists files of another campaign, and was not changed: give each campaign its own index';
      notify({ is: 'notice', text: `the index of outputs was not written: ${index} ${why}` });
      return;
    }
    await saveOutputsList(target, found, { format, paths, name: { asked: 'outputs.index', path: index } });
  } catch (error) {
    const isOfDisk = error instanceof CampaignError || error instanceof OutputError;
    if (!isOfDisk && !isErrno(error, 'EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'ENOTDIR', 'EISDIR')) throw error;
    notify({ is: 'notice', text: `the index of outputs was not written: ${messageOf(error)}` });
  }
}

export interface OutputsOptions extends Pick<PlanningOptions, 'select' | 'exclude'> {
  picked?: boolean | undefined;
}

interface FoundOutputs {
  campaign: string;
  files: FoundOutput[];
  posts: PostEntry[];
  isOnRecord(sha256: string): boolean;
  without: number;
  undecided: string[];
}

export async function findOutputs(campaign: OpenCampaign, options: OutputsOptions): Promise<FoundOutputs> {
  const rows = new Map<string, StepRows>();
  const { graph } = await requireTracedGraph(campaign, rows);
  const { lock, situation: recorded } = await Session.open(campaign, { graph, isOnlyRead: true });
  const earlier = recorded.matches.flatMap((match) => {
    const { purchase, isEarlier } = findSaved(match);
    return isEarlier ? (purchase?.outputs ?? []) : [];
  });
  const toCheck = [...outputsToCheck(recorded.matches), ...earlier.map((output) => ({ output, aspects: [] }))];
  const { states, facts } = await inspectOutputs(toCheck, campaign);
  const situation = withFiles(recorded, facts);
  const selected = makeSelector(situation).chosen(options);
  const which = options.picked === true ? 'picked' : 'all';
  const { entries, posts, without, undecided } = listOutputs({ situation, selected, which, rows });
  const stateOf = ({ path }: Output) => states.get(path) ?? 'missing';
  const intact = entries.flatMap(({ output }) =>
    stateOf(output) === 'intact' ? [{ output, aspects: ['size', 'credentials'] as const }] : [],
  );
  const measured = await measureFiles({ root: campaign.paths.outputs, kept: campaign.measures }, intact);
  const files = entries.map((entry): FoundOutput => {
    const { width, height, durationSeconds: seconds, hasCredentials } = measured.get(entry.output) ?? {};
    const found: FoundOutput = Object.assign(entry, { fileState: stateOf(entry.output) });
    if (width !== undefined) found.width = width;
    if (height !== undefined) found.height = height;
    if (seconds !== undefined) found.seconds = seconds;
    if (hasCredentials === true) found.contentCredentials = 'present';
    return found;
  });
  const digests = new Set<string>();
  for (const { purchases } of lock.steps.values()) {
    for (const { outputs = [] } of purchases) for (const { sha256 } of outputs) digests.add(sha256);
  }
  return { campaign: graph.name, files, posts, without, undecided, isOnRecord: (sha256) => digests.has(sha256) };
}
