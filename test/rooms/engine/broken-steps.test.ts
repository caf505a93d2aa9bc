import { describe, expect, it } from 'vitest';
import type { StepOutcome } from '../../../src/contract/event.ts';
import { LocalLedger } from '../../../src/engine/local-ledger.ts';
import { isOpenSend } from '../../../src/lock/sends.ts';
import { TestCampaign } from '../../rig/campaign.ts';

const manifest = `version: 1
name: test
budget: { credits: 100 }
prices: { influencer: 3, video: 3 }
tasks:
  logo: { kind: upload, with: { url: "https://a.example/logo.png" } }
  first: { kind: image, with: { prompt: "one", referenceImages: ["{{tasks.logo.url}}"] } }
  second: { kind: image, with: { prompt: "two" } }
  film: { kind: video, with: { prompt: "it moves", image: "{{tasks.first.url}}" } }
  other: { kind: video, with: { prompt: "it rests" } }
  host: { kind: influencer, with: { prompt: "who" } }
  copy: { kind: upload, with: { url: "{{tasks.second.url}}" } }
  share: { kind: post, with: { accountIds: [x], caption: "hi", media: ["{{tasks.film.url}}"] } }
`;
const needs: Record<string, string> = { first: 'logo', film: 'first', share: 'film', copy: 'second' };

type When = 'before' | 'after';
type Port = { [method: string]: (...given: never[]) => unknown };

/** Makes one call of a run throw, before or after it has done what it does. `seen`: which calls there were. */
function breakOne(campaign: TestCampaign, breaks?: { nth: number; when: When }) {
  const seen: string[] = [];
  const undo: (() => void)[] = [];
  const note = (name: string) => {
    seen.push(name);
    return seen.length - 1 === breaks?.nth ? breaks.when : undefined;
  };
  const wrap = (port: object, names: readonly string[]) => {
    for (const name of names) {
      const own = (port as Port)[name];
      if (own === undefined) throw new Error(`there is no ${name}`);
      const broken = function (this: unknown, ...given: never[]) {
        const when = note(name);
        const fail = () => {
          throw new TypeError(`broken ${when} ${name}`);
        };
        if (when === 'before') return fail();
        const done = own.apply(this, given);
        if (when === undefined) return done;
        return done instanceof Promise ? done.then(fail) : fail();
      };
      (port as Port)[name] = broken;
      undo.push(() => {
        (port as Port)[name] = own;
      });
    }
  };
  wrap(campaign.service, ['create', 'watch', 'upload', 'open', 'clockAheadMs', 'replays']);
  wrap(campaign.outputs, ['save']);
  wrap(LocalLedger.prototype, ['begin', 'intent', 'created', 'finish', 'jobOf', 'release']);
  const restore = () => {
    for (const one of undo) one();
  };
  return { seen, note, restore };
}

async function runBroken(breaks?: { nth: number; when: When }) {
  const campaign = new TestCampaign(manifest);
  campaign.service.creditsOf = (body) => (body.includes('accountIds') ? 0 : 3);
  const { seen, note, restore } = breakOne(campaign, breaks);
  const result = await campaign.run({
    concurrency: 8,
    onEvent: ({ event }) => {
      if (event.startsWith('credits') || event.startsWith('run')) return;
      if (note(`emit ${event}`) !== undefined) throw new TypeError(`broken at ${event}`);
    },
  });
  restore();
  return { campaign, seen, ...result };
}

/** Steps whose outcome differs, without those that need one of them. */
function origins(outcomes: Record<string, StepOutcome>): string[] {
  const differ = Object.keys(outcomes).filter((address) => outcomes[address] !== 'done');
  const isBehind = (address: string): boolean => {
    const need = needs[address];
    return need !== undefined && (differ.includes(need) || isBehind(need));
  };
  return differ.filter((address) => !isBehind(address));
}

describe('a mistake of ours in one step, at whatever call', () => {
  it.each<When>(['before', 'after'])('ends that step alone, and pays nothing twice (%s the call)', async (when) => {
    const clean = await runBroken();
    expect(origins(clean.outcomes)).toEqual([]);
    expect(clean.seen.length).toBeGreaterThan(80);
    for (const nth of clean.seen.keys()) {
      const broken = await runBroken({ nth, when });
      const what = `${nth}: ${when} ${broken.seen[nth]}: ${JSON.stringify(broken.outcomes)}`;
      const { ledger } = broken.campaign.service;
      expect(origins(broken.outcomes).length, what).toBeLessThanOrEqual(1);
      expect(
        broken.events.filter(({ event }) => event === 'spending-stopped'),
        what,
      ).toEqual([]);
      expect(new Set(ledger.map(({ key }) => key)).size, what).toBe(ledger.length);
      // What may have been charged is never told as if it were not.
      const isOpen = (address: string) => broken.ledger.lock.steps.get(address)?.purchases.some(isOpenSend) === true;
      for (const [address, outcome] of Object.entries(broken.outcomes)) {
        if (isOpen(address)) expect(outcome, what).toBe('unresolved');
      }
      expect(broken.ledger.account.spentEver + broken.ledger.account.held, what).toBeGreaterThanOrEqual(
        ledger.reduce((sum, { credits }) => sum + credits, 0),
      );
      const again = await broken.campaign.run({ concurrency: 8 });
      expect(new Set(broken.campaign.service.ledger.map(({ key }) => key)).size, what).toBe(
        broken.campaign.service.ledger.length,
      );
      const paid = broken.campaign.service.ledger.length;
      expect(paid, `${what} then ${JSON.stringify(again.outcomes)}`).toBeLessThanOrEqual(
        clean.campaign.service.ledger.length,
      );
    }
  });
});
