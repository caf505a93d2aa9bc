import type { OpenRequest } from '../../graph/graph.ts';
import { call } from '../../ground/advice.ts';
import { canonicalJson, type Json } from '../../ground/json.ts';
import { groupBy } from '../../ground/values.ts';
import type { Purchase, StepRecord } from '../../lock/record.ts';
import type { Cause, Change } from '../../plan/plan.generated.ts';
import type { PlanRow } from '../../plan/plan.ts';
import type { DecidedStep } from '../../plan/situation/decided-graph.ts';
import type { Paste } from '../advice-text.ts';
import { countOf } from '../numbers.ts';
import { safeText } from '../safe-text.ts';
import type { Style } from '../style.ts';
import { withCanary } from './canary-words.ts';
import { writeReferences } from './expansion.ts';

/** All facts about one step. */
export interface Explanation {
  row: PlanRow;
  step: DecidedStep;
  /** The error that kept the file of its finished job from being saved. */
  unsaved?: string;
  record?: StepRecord;
}

/** Explains the plan's decision for this step, field by field, and lists earlier purchases for it. */
export function explainText(
  { row, step, unsaved, record }: Explanation,
  options: { style: Style; paste: Paste },
): string {
  const { style } = options;
  const lines = [
    `${style.bold(safeText(row.address))}  ${row.kind}  ${style.bold(row.action)}: ${safeText(withCanary(row.reason.text, row))}`,
    ...(unsaved === undefined
      ? []
      : [
          '',
          `  not saved: ${safeText(unsaved, 1000)}`,
          `  to take it as it is, for 0 credits: ${options.paste(call('accept', row.address))}`,
        ]),
    '',
    ...factLines(row, step, options.paste),
  ];
  lines.push('', 'request', ...fieldLines(step.request, row.reason.changes ?? [], style));
  if (record !== undefined) {
    lines.push('', 'on record', ...record.purchases.flatMap(purchaseLines));
  }
  return `${lines.join('\n')}\n`;
}

function factLines(row: PlanRow, step: DecidedStep, paste: Paste): string[] {
  const waits = [...(row.canaries ?? []), ...step.needs];
  const facts: [string, string][] = [
    ...spendFacts(row),
    ...(row.discards ? ([['discards', `${countOf(row.discards, 'credit')} of paid work`]] as [string, string][]) : []),
    ...decidedFacts(row, step, paste),
    // A post and an upload leave no file.
    ...(step.save === '' ? [] : ([['saves to', `${step.save}.…`]] as [string, string][])),
    ['waits for', waits.length === 0 ? 'nothing' : waits.join(', ')],
    ['fingerprint', step.fingerprint],
    ...(row.order === undefined ? [] : ([['key', row.order.key]] as [string, string][])),
  ];
  return facts.map(([name, text]) => `  ${name.padEnd(13)}${safeText(text, 5000)}`);
}

function spendFacts(row: PlanRow): [string, string][] {
  const spends = (credits: number | null) =>
    `${credits === null ? uncertainPrice(row) : countOf(credits, 'credit')}${sourceText(row)}`;
  if (row.blockedBy !== 'gate' || row.wouldCost === undefined) return [['spends', spends(row.credits)]];
  return [
    ['spends', countOf(0, 'credit')],
    ['then', spends(row.wouldCost)],
  ];
}

function uncertainPrice({ price }: PlanRow): string {
  return price?.likely === undefined
    ? 'unknown until the first of its kind and size was charged'
    : `≈ ${countOf(price.likely, 'credit')}, until the first of its kind and size was charged`;
}

/** Names where a price comes from. */
function sourceText({ price }: PlanRow): string {
  const sources: Readonly<Record<NonNullable<PlanRow['price']>['source'], string>> = {
    lock: 'as charged before',
    'other-lock': 'as another campaign was charged',
    prices: 'by `prices` of the manifest',
    documented: 'as documented',
    list: 'as the service lists it',
    unknown: '',
  };
  return price === undefined || price.source === 'unknown' ? '' : ` (${sources[price.source]}: ${price.class})`;
}

function decidedFacts(row: PlanRow, { address, decided }: DecidedStep, paste: Paste): [string, string][] {
  if (decided === undefined) return [];
  if (decided.pinned === undefined) return [['accepted', 'its output counts for what the manifest asks for now']];
  const by =
    decided.pinned === 'manifest'
      ? 'by `pin: true` of its task'
      : `to take the pin off: ${paste(call('pin', address, '--undo'))}`;
  const cost = row.wouldCost === undefined ? '' : `to buy it again costs ${priceOf(row.wouldCost)}; `;
  return [['pinned', `${cost}${by}`]];
}

function priceOf(credits: number | null): string {
  return credits === null ? 'credits unknown' : countOf(credits, 'credit');
}

/** Every field once; one that differs from the purchase shows both, and what made it differ. */
function fieldLines(request: OpenRequest, changes: readonly Change[], style: Style): string[] {
  const changed = groupBy(changes, ({ field }) => field.split('.')[0] ?? field);
  const fields = [...new Set([...Object.keys(request), ...changed.keys()])].sort();
  return fields.flatMap((field) => {
    const own = changed.get(field);
    if (own === undefined) return [`  ${safeText(field)}: ${shown(request[field])}`];
    return own.flatMap((change) => changeLines(change, style));
  });
}

function changeLines({ field, before, after, cause }: Change, style: Style): string[] {
  const name = safeText(field);
  if (cause?.is === 'step') return [style.yellow(`~ ${name}: ${safeText(cause.name, 300)}, which is another one now`)];
  const from = cause === undefined ? '' : style.dim(`  (${safeText(describeCause(cause), 300)})`);
  return [
    ...(before === undefined ? [] : [style.red(`- ${name}: ${shown(before)}`)]),
    ...(after === undefined ? [] : [`${style.green(`+ ${name}: ${shown(after)}`)}${from}`]),
  ];
}

function describeCause({ name, file, line }: Cause): string {
  return file === undefined ? name : `${file}${line === undefined ? '' : `:${line}`} ${name}`;
}

/** Outputs of other steps as a template would name them. */
function shown(value: Json | undefined): string {
  if (value === undefined) return '';
  const written = writeReferences(value);
  return safeText(typeof written === 'string' ? written : canonicalJson(written), 2000);
}

function purchaseLines(purchase: Purchase): string[] {
  const { generation, attempt, state, jobId, credits, error, outputs, forgotten, writtenOff } = purchase;
  const parts = [
    `  ${generation}.${attempt} ${state}`,
    jobId === undefined ? undefined : `job ${jobId}`,
    credits === undefined ? undefined : countOf(credits, 'credit'),
    outputs?.[0]?.path,
    forgotten ? 'forgotten' : undefined,
    writtenOff ? 'bought again on purpose' : undefined,
    error,
  ];
  return [safeText(parts.filter((part) => part !== undefined).join(', '), 1000)];
}
