import type { Ports } from '../contract/ports.ts';
import { canonicalJson, type Json } from '../ground/json.ts';
import type { StepOrder } from '../plan/plan.ts';
import { fillReferences, referencedJobs } from './references.ts';
import type { StepEnd } from './step-end.ts';
import { stopFor } from './stop-for.ts';

/** The bytes to send, or the end of the step if they cannot be made. */
export async function makeBody(order: StepOrder, ports: Ports, absent: ReadonlySet<string>): Promise<string | StepEnd> {
  const filled = await fillRequest(order, ports, absent);
  return 'body' in filled ? canonicalJson(filled.body) : filled;
}

/** The request with the values of other steps in it, or the end of the step if one of them has none. */
export async function fillRequest(
  order: StepOrder,
  ports: Ports,
  absent: ReadonlySet<string>,
): Promise<{ body: Json } | StepEnd> {
  const values = await findValues(order, ports, absent);
  if (!(values instanceof Map)) return values;
  const filled = fillReferences(order.request, values, absent);
  if ('body' in filled) return filled;
  const { address, field } = filled.missing;
  return { outcome: 'blocked', credits: 0, error: `the output of ${address} has no \`${field}\`` };
}

/** Collects the values that the request uses from other steps. Links may have expired, so they are queried now. */
async function findValues(
  order: StepOrder,
  ports: Ports,
  absent: ReadonlySet<string>,
): Promise<Map<string, { readonly [field: string]: string }> | StepEnd> {
  const values = new Map<string, { readonly [field: string]: string }>();
  for (const { address, fingerprint } of referencedJobs(order)) {
    if (absent.has(address)) continue;
    const job = await ports.ledger.jobOf(address, fingerprint);
    if (job === undefined) return { outcome: 'blocked', credits: 0, error: `${address} has no finished job` };
    if (job.url !== undefined) {
      values.set(address, { url: job.url });
      continue;
    }
    const end = await ports.service.watch(job, {
      signal: ports.signal,
      fresh: false,
      onStatus: () => {},
      notice: () => {},
    });
    if (end.is === 'unwatched') {
      stopFor(end, ports);
      return { outcome: 'left', credits: 0, error: end.error };
    }
    if (end.is !== 'completed') {
      return { outcome: 'blocked', credits: 0, error: `the output of ${address} has no link: ${end.error}` };
    }
    values.set(address, end.result.values);
  }
  return values;
}
