import { checkSavePath } from '../../graph/check/check-saves.ts';
import type { StepRows } from '../../graph/expansion.ts';
import type { GraphTask, OpenRequest } from '../../graph/graph.ts';
import { findReferences, replaceReferences } from '../../graph/render/fingerprint.ts';
import type { Json } from '../../ground/json.ts';
import { defined, emptyMap, isScalar, type JsonMap } from '../../ground/values.ts';
import { kinds } from '../../kinds/index.ts';
import type { Kind } from '../../kinds/kind.ts';
import { modelName } from '../../kinds/price.ts';
import { countedPurchases } from '../../lock/decisions.ts';
import type { Output, Purchase } from '../../lock/record.ts';
import { chargeName, chargesByJob, isJob } from '../../lock/sends.ts';
import { parseTemplate } from '../../manifest/template/parse-template.ts';
import { renderTemplate } from '../../manifest/template/render-template.ts';
import type { Template } from '../../manifest/template/template.ts';
import { isPost, sendsOf } from '../posts/post-record.ts';
import { withoutExtension } from '../select/names.ts';
import { type BoughtAt, boughtAtIn, type Match } from '../situation/find-purchases.ts';
import { type Situation, type StepState, stateOfStep } from '../situation/situation.ts';
import type { VerdictContent } from '../situation/verdicts.ts';

interface StepEntry {
  address: string;
  task: string;
  kind: string;
  key?: string;
  row?: Json;
  tables?: { [name: string]: Json };
  matrix: { readonly [axis: string]: string };
  take?: number;
  tags: readonly string[];
  rights?: GraphTask['rights'];
}

interface OutputEntry extends StepEntry {
  output: Output;
  /** Position of the file in its job, from 1. Omitted if the job has one file. */
  part?: number;
  state: StepState;
  verdict?: VerdictContent;
  job?: string;
  /** Charge of the job, or `null` if unknown. 0 if an earlier file in the list has the same job. */
  credits: number | null;
  madeFrom: readonly string[];
  model?: string;
  prompt?: string;
  /** Paid request, with addresses as references. Omitted if the lock does not store the request. */
  request?: OpenRequest;
}

export interface FoundOutput extends OutputEntry {
  fileState: 'intact' | 'missing' | 'changed';
  width?: number;
  height?: number;
  seconds?: number;
  contentCredentials?: 'present';
}

export type PostEntry = Omit<OutputEntry, 'output' | 'part' | 'verdict'>;

interface ListedOutputs {
  entries: OutputEntry[];
  posts: PostEntry[];
  without: number;
  /** Names of the open gates whose files are omitted (only with `which: 'picked'`). */
  undecided: string[];
}

interface ListFacts {
  situation: Situation;
  selected?: ReadonlySet<string> | undefined;
  which: 'all' | 'picked';
  rows: ReadonlyMap<string, StepRows>;
}

/**
 * Lists the files and posts of a campaign in the order of the graph. For a step with a changed input, lists the newest
 * saved files.
 */
export function listOutputs({ situation, selected, which, rows }: ListFacts): ListedOutputs {
  const { graph, lock, matches, gateOf, verdicts } = situation;
  const describe = describer(situation, { boughtAt: boughtAtIn(lock), rows });
  const rights = new Map(graph.tasks.map((task) => [task.id, task.rights]));
  const takeCharge = chargeTaker(chargesByJob(lock));
  const entries: OutputEntry[] = [];
  const posts: PostEntry[] = [];
  let without = 0;
  const undecided = new Set<string>();
  for (const match of matches) {
    const { address, task, kind } = match.step;
    if (selected?.has(address) === false) continue;
    const ofTask = rights.get(task) === undefined ? {} : { rights: rights.get(task) };
    if (isPost(kind) && match.record !== undefined) {
      const [sent] = sendsOf(match.record);
      if (sent !== undefined) posts.push({ ...describe(match, sent), ...ofTask, credits: takeCharge(sent) });
    }
    if (kinds[kind]?.media === 'none') continue;
    const { purchase } = findSaved(match);
    const outputs = purchase?.outputs ?? [];
    if (purchase === undefined || outputs.length === 0) {
      without += situation.unneeded.has(address) ? 0 : 1;
      continue;
    }
    const verdict = purchase === match.purchase ? verdicts.on(match) : undefined;
    const gate = which === 'picked' && verdict?.is !== 'picked' ? gateOf.get(address) : undefined;
    if (gate !== undefined) {
      if (gate.state.is === 'open' && verdict?.is !== 'rejected') undecided.add(gate.name);
      continue;
    }
    const common = { ...describe(match, purchase), ...defined({ verdict }), ...ofTask };
    for (const [index, output] of outputs.entries()) {
      const part = outputs.length > 1 ? { part: index + 1 } : {};
      entries.push({ ...common, ...part, output, credits: takeCharge(purchase) });
    }
  }
  return { entries, posts, without, undecided: [...undecided] };
}

export function findSaved({ purchase, record }: Match): { purchase?: Purchase | undefined; isEarlier: boolean } {
  if (purchase?.outputs !== undefined) return { purchase, isEarlier: false };
  const counted = record === undefined ? [] : countedPurchases(record);
  return { purchase: counted.find(({ outputs }) => outputs !== undefined), isEarlier: true };
}

function chargeTaker(known: ReadonlyMap<string, number>): (purchase: Purchase) => number | null {
  const taken = new Set<string>();
  return (purchase) => {
    if (!isJob(purchase)) return null;
    const name = chargeName(purchase);
    if (taken.has(name)) return 0;
    taken.add(name);
    return known.get(name) ?? null;
  };
}

type Described = Omit<OutputEntry, 'output' | 'part' | 'credits' | 'verdict' | 'rights'>;

function describer(
  situation: Situation,
  { boughtAt, rows }: Pick<ListFacts, 'rows'> & { boughtAt: BoughtAt },
): (match: Match, purchase: Purchase) => Described {
  const picked = new Map(situation.graph.gates.map(({ name, state }) => [name, state.picked]));
  return (match, purchase) => {
    const { step } = match;
    const { address, task, kind, key, matrix, take, tags } = step;
    const isPresent = purchase.fingerprint === step.fingerprint && step.decided?.wanted === undefined;
    const request = isPresent ? step.request : purchase.request && readableRequest(purchase.request, boughtAt);
    const { row, tables } = rows.get(address) ?? {};
    const known = kinds[kind];
    const model = known && request && modelName(known, request);
    const prompt = request && wordsOf(known, request);
    return {
      ...{ address, task, kind, matrix, tags, state: stateOfStep(match, situation) },
      ...defined({ key, row, tables, take, job: purchase.jobId }),
      madeFrom: (isPresent ? step.needs : findReferences(request ?? {})).flatMap((need) =>
        situation.byAddress.has(need) ? [need] : (picked.get(need) ?? []),
      ),
      ...defined({ model, prompt, request }),
    };
  };
}

function wordsOf(kind: Kind | undefined, request: OpenRequest): string | undefined {
  for (const [name, { free }] of Object.entries(kind?.fields ?? {})) {
    const value = request[name];
    if (free === true && typeof value === 'string' && value !== '') return value;
  }
  return undefined;
}

export function readableRequest(bought: OpenRequest, boughtAt: BoughtAt): OpenRequest {
  return replaceReferences(bought, (fingerprint) => boughtAt(fingerprint) ?? fingerprint);
}

export interface NamedDelivery<File extends OutputEntry = OutputEntry> {
  file: File;
  name: string;
}

const layoutNames = ['row', 'matrix', 'key', 'task', 'kind', 'take', 'part', 'path'] as const;

interface Problem {
  problem: string;
  hint: string;
}

/** Names files by a layout: a path template without extension. Reports duplicate and unusable names as problems. */
export function nameDeliveries<File extends OutputEntry>(
  files: readonly File[],
  layout = '{{path}}',
): NamedDelivery<File>[] | Problem {
  const template = readLayout(layout);
  if ('problem' in template) return template;
  const named: NamedDelivery<File>[] = [];
  const owners = new Map<string, string>();
  for (const file of files) {
    const rendered = render(template, file);
    if (typeof rendered !== 'string') return rendered;
    const name = rendered + file.output.path.slice(withoutExtension(file.output.path).length);
    // Some file systems do not distinguish names that differ only in case.
    const same = name.normalize('NFC').toLowerCase();
    const other = owners.get(same);
    if (other !== undefined) {
      const hint =
        'add to --layout a value that differs between these files, as in {{key}}, {{matrix.ratio}}, {{take}} or {{part}}';
      return { problem: `${other} and ${file.address} would both be saved as ${name}`, hint };
    }
    owners.set(same, file.address);
    named.push({ file, name });
  }
  return named;
}

function readLayout(layout: string): Template | Problem {
  const { template, faults, paths } = parseTemplate(layout);
  const [fault] = faults;
  const known = `a layout may use ${layoutNames.join(', ')}`;
  if (fault !== undefined || template === undefined) {
    return { problem: fault?.message ?? 'it cannot be read', hint: fault?.hint ?? known };
  }
  const odd = paths.find(({ parts }) => !layoutNames.some((name) => name === parts[0]));
  return odd === undefined ? template : { problem: `\`${odd.parts.join('.')}\` is unknown in a layout`, hint: known };
}

function render(template: Template, file: OutputEntry): string | Problem {
  const { value, faults } = renderTemplate(template, { names: namesOf(file), rowLabel: `the row of ${file.address}` });
  const [fault] = faults;
  if (fault !== undefined) {
    return {
      problem: `for ${file.address}: ${fault.message}`,
      hint: fault.hint ?? 'select other steps with --select',
    };
  }
  if (value === undefined || !isScalar(value)) {
    return {
      problem: `the layout is not a string for ${file.address}`,
      hint: 'write a path, as in {{row.sku}}/{{task}}',
    };
  }
  const path = String(value);
  const wrong = checkSavePath(path);
  return wrong === undefined ? path : { problem: `for ${file.address}: ${wrong.message}`, hint: wrong.hint };
}

function namesOf(file: OutputEntry): JsonMap {
  const { row, matrix, key, task, kind, take, part, output } = file;
  const path = withoutExtension(output.path);
  const names = { task, kind, path, matrix: Object.assign(emptyMap(), matrix), ...defined({ row, key, take, part }) };
  return Object.assign(emptyMap(), names);
}
