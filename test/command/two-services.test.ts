import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { expectExit } from '../rig/command.ts';
import { makeFolder } from '../rig/folder.ts';
import { described, type Manners, odd, terse } from '../rig/other-service/manners.ts';
import { account, OtherService } from '../rig/other-service/other-service.ts';
import { firstAccount, serviceHere } from '../rig/service-here.ts';
import { runInProcess, type Said } from './in-process.ts';

/** A service as a test needs it: its address, and its own books. */
interface StandIn {
  env: Record<string, string>;
  accountId: string;
  /** The name of a field of a video here. */
  firstImage: string;
  /** Keeps what is drawn and cut small, where that takes time. */
  small: { film: string; cuts: string };
  /** `ids`: of the job, and of its record. */
  paid(): { kind: string; credits: number; id: string; key: string | null; ids: string[] }[];
  seen(): string[];
}

async function sandbox(): Promise<StandIn> {
  const service = await serviceHere();
  onTestFinished(() => service.close());
  return {
    env: service.env,
    accountId: await firstAccount(service),
    firstImage: 'image',
    small: { film: ', duration: 1', cuts: ', maxClips: 2' },
    paid: () => service.ledger().map(({ kind, credits, id, key }) => ({ kind, credits, id, key, ids: [id] })),
    seen: () => service.requests().map(({ method, path }) => `${method} ${path.replace('/api/v1', '')}`),
  };
}

function other(manners: Manners): () => Promise<StandIn & { service: OtherService }> {
  return async () => {
    const service = await OtherService.open(manners);
    onTestFinished(() => service.close());
    return {
      service,
      env: service.env,
      accountId: account.id,
      firstImage: manners.names.video?.image ?? 'image',
      small: { film: '', cuts: '' },
      paid: () =>
        service.books.jobs.map(({ kind, credits, id, key, recordId }) => ({
          ...{ kind, credits, id, key },
          ids: [id, recordId],
        })),
      seen: () => service.seen,
    };
  };
}

const standIns: readonly [string, () => Promise<StandIn>][] = [
  ['the sandbox', sandbox],
  ['a terse service', other(terse)],
  ['a service that describes itself', other(described)],
  ['a service of odd ids', other(odd)],
];

/** Every kind once, each with something that another one made. */
const everyKind = ({ accountId, firstImage, small }: StandIn) => `version: 1
name: launch
tasks:
  logo: { kind: upload, with: { file: logo.png } }
  hero: { kind: image, with: { prompt: lamp, resolution: 1k, referenceImages: ["{{tasks.logo.url}}"] } }
  again: { kind: upload, with: { url: "{{tasks.hero.url}}" } }
  host: { kind: influencer, with: { prompt: presenter, referenceImages: ["{{tasks.again.url}}"] } }
  bed: { kind: music, with: { model: song-7.5, prompt: calm } }
  voice: { kind: voiceover, with: { text: "No other.", voice_id: Alice } }
  film: { kind: video, with: { prompt: push in, ${firstImage}: "{{tasks.hero.url}}"${small.film} } }
  cuts: { kind: clipping, with: { videoUrl: "{{tasks.film.url}}"${small.cuts} } }
  cover: { kind: thumbnail, with: { title: Part, image: "{{tasks.film.thumbnailUrl}}" } }
  share: { kind: post, with: { accountIds: ["${accountId}"], caption: hi, media: ["{{tasks.film.url}}"] } }
`;

function campaign(text: string, { env: own }: StandIn) {
  let env = own;
  const path = makeFolder();
  const write = (manifest: string) => writeFileSync(join(path, 'campaign.yaml'), manifest);
  write(text);
  const png = '89504e470d0a1a0a0000000d49484452000000010000000108000000003a7e9b55';
  writeFileSync(join(path, 'logo.png'), Buffer.from(png, 'hex'));
  return {
    path: (name: string) => join(path, name),
    write,
    lock: () => readFileSync(join(path, 'campaign.lock.jsonl'), 'utf8'),
    run: (...args: string[]): Promise<Said> => runInProcess(args, env, path),
    /** Moves the campaign to another machine: there is no purchase journal of this one. */
    moveToAnotherMachine: () => {
      env = { ...env, XDG_STATE_HOME: makeFolder() };
    },
    apply: (...more: string[]): Promise<Said> =>
      runInProcess(
        ['apply', 'campaign.yaml', '--yes', '--publish', '--poll-interval', '10', '--patience', '8s', ...more],
        env,
        path,
      ),
  };
}

const pictures = (names: string, more = '') =>
  `version: 1\nname: p\n${more}tasks:\n  pic: { kind: image, foreach: [${names}], with: { prompt: "a {{row}}", resolution: 1k } }\n`;

/** What holds of the runner at any service. */
const cases: readonly [string, (standIn: StandIn) => Promise<void>][] = [
  [
    'all nine kinds: bought, saved, posted once, and nothing to do after',
    async (standIn) => {
      const place = campaign(everyKind(standIn), standIn);
      await expectExit(0, place.apply());
      const kinds = ['image', 'influencer', 'music', 'voiceover', 'video', 'clipping', 'thumbnail', 'post'];
      const bought = standIn.paid().map(({ kind }) => kind);
      expect(bought.sort()).toEqual(kinds.sort());
      const files = readdirSync(place.path('output')).map((name) => name.replace(/\.\w+$/, ''));
      expect(files).toEqual(expect.arrayContaining(['bed', 'cover', 'cuts-1', 'film', 'hero', 'host', 'voice']));
      const lock = place.lock();
      for (const { ids } of standIn.paid()) expect(ids.some((id) => lock.includes(JSON.stringify(id)))).toBe(true);
      await expectExit(0, place.apply());
      expect(place.lock()).toBe(lock);
      rmSync(place.path('output'), { recursive: true });
      await expectExit(0, place.apply());
      expect(standIn.paid()).toHaveLength(8);
    },
  ],
  [
    'create answers without a charge fit into a budget that covers them',
    async (standIn) => {
      const covers = (titles: string) =>
        `version: 1\nname: t\nbudget: { credits: 60 }\ntasks:\n  cover: { kind: thumbnail, foreach: [${titles}], with: { title: "{{row}}" } }\n`;
      const place = campaign(covers('a, b, c'), standIn);
      await expectExit(0, place.apply());
      expect(standIn.paid()).toHaveLength(3);
      place.write(covers('a, b, c, d'));
      await expectExit(0, place.apply());
      expect(standIn.paid()).toHaveLength(4);
    },
  ],
  [
    'unreported charges do not exceed the budget',
    async (standIn) => {
      const text =
        'version: 1\nname: t\nbudget: { credits: 9 }\ntasks:\n  cover: { kind: thumbnail, foreach: [a, b, c, d, e], with: { title: "{{row}}" } }\n';
      const place = campaign(text, standIn);
      for (let run = 0; run < 3; run += 1) await place.apply();
      expect(standIn.paid().reduce((sum, { credits }) => sum + credits, 0)).toBeLessThanOrEqual(9);
    },
  ],
  [
    'after a lost lock, jobs of all list pages are shown and adopted',
    async (standIn) => {
      const rows = 'a, b, c, d, e, f, g';
      const place = campaign(
        `version: 1\nname: v\ntasks:\n  voice: { kind: voiceover, foreach: [${rows}], with: { text: "Say {{row}}.", voice_id: Alice } }\n`,
        standIn,
      );
      await expectExit(0, place.apply());
      rmSync(place.path('campaign.lock.jsonl'));
      rmSync(place.path('.mediabatch'), { recursive: true, force: true });
      const listed = JSON.parse(
        (await place.run('list', 'jobs', '--kind', 'voiceover', '--json', '--limit', '50')).out,
      );
      expect(listed.jobs.map(({ jobId }: { jobId: string }) => jobId).sort()).toEqual(
        standIn
          .paid()
          .map(({ id }) => id)
          .sort(),
      );
      await expectExit(0, place.run('adopt', 'campaign.yaml', '--yes'));
      await expectExit(0, place.apply());
      expect(standIn.paid()).toHaveLength(7);
    },
  ],
  [
    'after a lost lock of images, their keys return the same jobs, and nothing is bought again',
    async (standIn) => {
      const text = `version: 1\nname: k\ntasks:
  hero: { kind: image, foreach: [a, b], with: { prompt: "{{row}}", resolution: 1k } }
  pair: { kind: image, foreach: [c, d], with: { prompt: "{{row}}", resolution: 1k, referenceImages: ["https://a.example/{{row}}.png"] } }\n`;
      const place = campaign(text, standIn);
      expect((await place.apply()).code).toBe(0);
      rmSync(place.path('campaign.lock.jsonl'));
      rmSync(place.path('.mediabatch'), { recursive: true, force: true });
      rmSync(place.path('output'), { recursive: true, force: true });
      place.moveToAnotherMachine();
      await expectExit(0, place.apply());
      expect(standIn.paid()).toHaveLength(4);
    },
  ],
  [
    'a thumbnail is removed by any of its ids; its input picture is not its link; a second removal reports that it is gone',
    async (standIn) => {
      const text =
        'version: 1\nname: t\ntasks:\n  cover: { kind: thumbnail, with: { title: T, image: "https://a.example/in.png" } }\n';
      const place = campaign(text, standIn);
      expect((await place.apply()).code).toBe(0);
      const jobs = JSON.parse((await place.run('list', 'jobs', '--kind', 'thumbnail', '--json')).out);
      expect(jobs.jobs).toHaveLength(1);
      expect(JSON.stringify(jobs)).not.toContain('in.png');
      const removed = await place.run('destroy', 'campaign.yaml', 'cover', '--yes');
      expect([removed.code, removed.err]).toEqual([0, expect.stringContaining('removed 1 record\n')]);
      expect(JSON.parse((await place.run('list', 'jobs', '--kind', 'thumbnail', '--json')).out).jobs).toEqual([]);
      const again = await place.run('destroy', 'campaign.yaml', 'cover', '--yes');
      expect([again.code, again.err]).toEqual([0, expect.stringContaining('1 had already been removed')]);
    },
  ],
];

describe.each(standIns)('%s', (_name, open) => {
  // The sandbox draws and cuts real films.
  test.each(cases)('%s', { timeout: 120_000 }, async (_case, act) => act(await open()));
});

test.each([
  ['a terse service', terse],
  ['a service that describes itself', described],
])('%s: a list price per second is multiplied by the requested duration', async (_name, manners) => {
  const standIn = await other(manners)();
  const place = campaign(
    'version: 1\nname: f\ntasks:\n  film: { kind: video, with: { prompt: x, model: film-1, duration: 6 } }\n',
    standIn,
  );
  const planned = JSON.parse((await place.run('plan', 'campaign.yaml', '--refresh', '--json')).out);
  expect(planned.rows[0].price).toMatchObject({ source: 'list', likely: 12 });
});

test('a used key is no refusal of the step, with either status', async () => {
  for (const manners of [terse, described]) {
    const standIn = await other(manners)();
    const place = campaign(pictures('a'), standIn);
    expect((await place.apply()).code).toBe(0);
    const [job] = standIn.service.books.jobs;
    if (job === undefined) throw new Error('nothing was bought');
    // Bytes of an earlier version, of which nobody has a copy.
    job.text = `${job.text} `;
    rmSync(place.path('campaign.lock.jsonl'));
    rmSync(place.path('.mediabatch'), { recursive: true, force: true });
    rmSync(place.path('output'), { recursive: true, force: true });
    place.moveToAnotherMachine();
    for (let run = 0; run < 2; run += 1) expect((await place.apply()).code).toBe(6);
    expect(standIn.paid()).toHaveLength(1);
  }
});
