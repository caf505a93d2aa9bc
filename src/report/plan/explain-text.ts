import type { OpenRequest } from '../../graph/graph.ts';
import { call } from '../../ground/advice.ts';
import { canonicalJson, type Json } from '../../ground/json.ts';
import { groupBy } from '../../ground/values.ts';
import type { Purchase, StepRecord } from '../../lock/record.ts';
import type { Cause, Change } from '../../plan/plan.generated.ts';
import type { PlanRow } from '../../plan/plan.ts';
import type { DecidedStep } from '../../plan/situation/find-purchases.ts';
import type { Paste } from '../advice-text.ts';
import {
  type Block,
  bad,
  command,
  type Document,
  type Fact,
  facts,
  faint,
  good,
  line,
  stack,
  strong,
  warning,
} from '../document.ts';
import { countOf, priceText } from '../numbers.ts';
import { safeText } from '../safe-text.ts';
import { withCanary } from './plan-items.ts';
import { writeReferences } from './requests-text.ts';

interface Explanation {
  row: PlanRow;
  step: DecidedStep;
  unsaved?: string;
  record?: StepRecord;
}

export function explainView({ row, step, unsaved, record }: Explanation, paste: Paste): Document {
  const { address, kind, action, reason } = row;
  return [
    line([strong(address), `  ${kind}  `, strong(action), `: ${withCanary(reason.text, row)}`]),
    unsaved === undefined
      ? undefined
      : stack(
          line(`not saved: ${unsaved}`),
          command('to accept the file as it is, for 0 credits', paste(call('accept', address))),
        ),
    facts(factsOf(row, step, paste)),
    line('request', fieldLines(step.request, reason.changes ?? [])),
    record && line('on record', record.purchases.map(purchaseLine)),
  ];
}

function factsOf(row: PlanRow, step: DecidedStep, paste: Paste): (Fact | undefined)[] {
  const waits = [...(row.canaries ?? []), ...step.needs];
  return [
    { label: 'spends', text: spendText(row) },
    row.discards ? { label: 'discards', text: `${countOf(row.discards, 'credit')} of paid work` } : undefined,
    decidedFact(row, step, paste),
    // Posts and uploads do not save a file.
    step.save === '' ? undefined : { label: 'saves to', text: `${step.save}.…` },
    { label: 'waits for', text: waits.length === 0 ? 'nothing' : waits.join(', ') },
    { label: 'fingerprint', text: step.fingerprint },
    row.order && { label: 'key', text: row.order.key },
  ];
}

const sources: Readonly<Record<NonNullable<PlanRow['price']>['source'], string>> = {
  lock: 'as charged before',
  'other-lock': 'as another campaign was charged',
  prices: 'by `prices` of the manifest',
  documented: 'as documented',
  list: 'as the service lists it',
  unknown: '',
};

function spendText({ credits: now, price, wouldCost, blockedBy }: PlanRow): string {
  const isLater = blockedBy === 'gate' && wouldCost !== undefined;
  const credits = isLater ? wouldCost : now;
  const until = credits === null ? ' until the first job of this kind and size is charged' : '';
  const source = price === undefined || price.source === 'unknown' ? '' : ` (${sources[price.source]}: ${price.class})`;
  return `${isLater ? '0 credits now, then ' : ''}${priceText({ credits, price })}${until}${source}`;
}

function decidedFact({ wouldCost }: PlanRow, { address, decided }: DecidedStep, paste: Paste): Fact | undefined {
  if (decided === undefined) return undefined;
  if (decided.pinned === undefined)
    return { label: 'accepted', text: 'its output is accepted for the current request' };
  const cost = wouldCost === undefined ? '' : `price to buy the step again: ${priceText({ credits: wouldCost })}; `;
  const isInManifest = decided.pinned === 'manifest';
  const by = isInManifest
    ? 'by `pin: true` of its task'
    : `to remove the pin: ${paste(call('pin', address, '--undo'))}`;
  return { label: 'pinned', text: `${cost}${by}` };
}

function fieldLines(request: OpenRequest, changes: readonly Change[]): Document {
  const changed = groupBy(changes, ({ field }) => field.split('.')[0] ?? field);
  const fields = [...new Set([...Object.keys(request), ...changed.keys()])].sort();
  return fields.flatMap((field) => {
    const own = changed.get(field);
    if (own === undefined) return [line(`${field}: ${shown(request[field])}`)];
    return own.flatMap(changeLines);
  });
}

function changeLines({ field, before, after, cause }: Change): Document {
  if (cause?.is === 'step')
    return [line(warning(`~ ${field}: ${safeText(cause.name, 300)}, which has a different output now`))];
  const from = cause === undefined ? '' : faint(`  (${safeText(describeCause(cause), 300)})`);
  return [
    before === undefined ? undefined : line(bad(`- ${field}: ${shown(before)}`)),
    after === undefined ? undefined : line([good(`+ ${field}: ${shown(after)}`), from]),
  ];
}

function describeCause({ name, file, line }: Cause): string {
  return file === undefined ? name : `${file}${line === undefined ? '' : `:${line}`} ${name}`;
}

function shown(value: Json | undefined): string {
  if (value === undefined) return '';
  const written = writeReferences(value);
  return safeText(typeof written === 'string' ? written : canonicalJson(written), 2000);
}

function purchaseLine(purchase: Purchase): Block {
  const { generation, attempt, state, jobId, credits, error, outputs, forgotten, writtenOff } = purchase;
  const parts = [
    `${generation}.${attempt} ${state}`,
    jobId === undefined ? undefined : `job ${jobId}`,
    credits === undefined ? undefined : countOf(credits, 'credit'),
    outputs?.[0]?.path,
    forgotten ? 'forgotten' : undefined,
    writtenOff ? 'bought again on purpose' : undefined,
    error,
  ];
  return line(safeText(parts.filter((part) => part !== undefined).join(', '), 1000));
}
