import type { OpenRequest, Step } from '../graph/graph.ts';
import { fingerprintStep } from '../graph/render/fingerprint.ts';
import { dropDefaults } from '../kinds/drop-defaults.ts';
import { kinds } from '../kinds/index.ts';
import { countedPurchases } from '../lock/decisions.ts';
import type { Lock, StepRecord } from '../lock/record.ts';

/** A request as it was paid for with documented defaults written out. */
interface Form {
  fingerprint: string;
  request: OpenRequest;
}

/**
 * Purchases from before documented defaults were left out of requests. A step that asks for the same goes on under the
 * fingerprint, the key and the bytes that were paid for.
 */
export class KeptForms {
  readonly #lock: Lock;
  /** Forms by address, and by the fingerprint of the same request without its defaults. */
  readonly #own = new Map<string, Map<string, Form>>();
  readonly #anywhere = new Map<string, Form>();
  #bought: ReadonlySet<string> | undefined;

  constructor(lock: Lock) {
    this.#lock = lock;
    for (const record of lock.steps.values()) this.#note(record);
  }

  get isEmpty(): boolean {
    return this.#anywhere.size === 0;
  }

  /** The step as it was paid for, if that differs; else the step itself. */
  apply(step: Step): Step {
    if (this.isEmpty) return step;
    const form = this.#formOf(step);
    if (form === undefined) return step;
    const more = Object.entries(form.request).filter(([field]) => !Object.hasOwn(step.request, field));
    return {
      ...step,
      request: { ...step.request, ...Object.fromEntries(more) },
      paidRequest: form.request,
      fingerprint: form.fingerprint,
    };
  }

  #formOf({ address, fingerprint }: Step): Form | undefined {
    const record = this.#lock.steps.get(address);
    if (record !== undefined && countedPurchases(record).some((one) => one.fingerprint === fingerprint))
      return undefined;
    const own = this.#own.get(address)?.get(fingerprint);
    if (own !== undefined) return own;
    const elsewhere = this.#anywhere.get(fingerprint);
    return elsewhere === undefined || this.#isBought(fingerprint) ? undefined : elsewhere;
  }

  #isBought(fingerprint: string): boolean {
    this.#bought ??= new Set(
      [...this.#lock.steps.values()].flatMap((record) => countedPurchases(record).map((one) => one.fingerprint)),
    );
    return this.#bought.has(fingerprint);
  }

  #note(record: StepRecord): void {
    for (const { kind = record.kind, request, take, fingerprint } of countedPurchases(record)) {
      if (request === undefined) continue;
      const paidRequest = dropDefaults(kinds[kind], request);
      if (paidRequest === request) continue;
      const form = { fingerprint, request };
      const short = fingerprintStep({ kind, paidRequest, take });
      const own = this.#own.get(record.address) ?? new Map<string, Form>();
      this.#own.set(record.address, own);
      // Newest first.
      if (!own.has(short)) own.set(short, form);
      if (!this.#anywhere.has(short)) this.#anywhere.set(short, form);
    }
  }
}
