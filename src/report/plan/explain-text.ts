import type { OpenRequest, Step } from '../../graph/graph.ts';
import { canonicalJson, type Json } from '../../ground/json.ts';
import type { Purchase, StepRecord } from '../../lock/record.ts';
import { call } from '../../plan/advice.ts';
import type { PlanRow } from '../../plan/plan.ts';
import type { Paste } from '../advice-text.ts';
import { countOf } from '../numbers.ts';
import { safeText } from '../safe-text.ts';
import type { Style } from '../style.ts';

/** All facts about one step. */
export interface Explanation {
  row: PlanRow;
  step: Step;
  record?: StepRecord;
}

/** Explains the plan's decision for this step, field by field, and lists earlier purchases for it. */
export function explainText({ row, step, record }: Explanation, options: { style: Style; paste: Paste }): string {
  const { style } = options;
  const lines = [
    `${style.bold(safeText(row.address))}  ${row.kind}  ${style.bold(row.action)}: ${safeText(row.reason)}`,
    '',
    ...factLines(row, step, options.paste),
  ];
  const bought = record?.purchases.find(({ request }) => request !== undefined);
  const wanted = step.decided?.wanted?.paidRequest ?? step.paidRequest;
  lines.push('', 'request', ...fieldLines(wanted, bought?.request, style));
  if (record !== undefined) {
    lines.push('', 'on record', ...record.purchases.flatMap(purchaseLines));
  }
  return `${lines.join('\n')}\n`;
}

function factLines(row: PlanRow, step: Step, paste: Paste): string[] {
  const facts: [string, string][] = [
    ['spends', `${row.credits === null ? uncertainPrice(row) : countOf(row.credits, 'credit')}${sourceText(row)}`],
    ...(row.discards ? ([['discards', `${countOf(row.discards, 'credit')} of paid work`]] as [string, string][]) : []),
    ...decidedFacts(row, step, paste),
    ['saves to', `${step.save}.…`],
    ['waits for', step.needs.length === 0 ? 'nothing' : step.needs.join(', ')],
    ['fingerprint', step.fingerprint],
    ...(row.order === undefined ? [] : ([['key', row.order.key]] as [string, string][])),
  ];
  return facts.map(([name, text]) => `  ${name.padEnd(13)}${safeText(text, 5000)}`);
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

function decidedFacts(row: PlanRow, { address, decided }: Step, paste: Paste): [string, string][] {
  if (decided === undefined) return [];
  if (decided.pinned === undefined) return [['accepted', 'its output counts for what the manifest asks for now']];
  const by =
    decided.pinned === 'manifest'
      ? 'by `pin: true` of its task'
      : `until it is unpinned with \`${paste(call('unpin', address))}\``;
  const cost = row.wouldCost === undefined ? '' : `; to buy it again: ${priceOf(row.wouldCost)}`;
  return [['pinned', `${by}${cost}`]];
}

function priceOf(credits: number | null): string {
  return credits === null ? 'credits unknown' : countOf(credits, 'credit');
}

/** Every field once; one that differs from the purchase shows both. */
function fieldLines(wanted: OpenRequest, bought: OpenRequest | undefined, style: Style): string[] {
  const fields = [...new Set([...Object.keys(bought ?? {}), ...Object.keys(wanted)])].sort();
  return fields.flatMap((field) => {
    const [before, after] = [bought?.[field], wanted[field]];
    const same = before !== undefined && after !== undefined && canonicalJson(before) === canonicalJson(after);
    if (bought === undefined || same) return [`  ${safeText(field)}: ${shown(after)}`];
    return [
      ...(before === undefined ? [] : [style.red(`- ${safeText(field)}: ${shown(before)}`)]),
      ...(after === undefined ? [] : [style.green(`+ ${safeText(field)}: ${shown(after)}`)]),
    ];
  });
}

function shown(value: Json | undefined): string {
  return value === undefined ? '' : safeText(typeof value === 'string' ? value : canonicalJson(value), 2000);
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
