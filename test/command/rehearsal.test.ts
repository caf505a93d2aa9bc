import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type CommandResult, command, expectExit, readLines } from '../rig/command.ts';
import { described } from '../rig/other-service/manners.ts';
import { OtherService } from '../rig/other-service/other-service.ts';
import { workplaceForEach } from './in-process.ts';

describe('rehearsal', () => {
  const place = workplaceForEach();

  const manifest = (more = '') => `version: 1
name: spring
${more}
tasks:
  pic: { kind: image, foreach: [a, b, c], with: { prompt: "{{row}}", resolution: 1k }, save: "out/{{row}}" }
  cover: { kind: image, with: { prompt: cover, resolution: 1k, referenceImages: ["{{tasks.pic.url}}"] }, from: { pic: { key: a } }, save: out/cover }
`;

  function rehearse(...args: string[]): Promise<CommandResult> {
    const quick = ['--yes', '--sandbox-speed', '10000', '--poll-interval', '10'];
    return command(['apply', 'campaign.yaml', '--sandbox', ...quick, ...args], { cwd: place.folder });
  }

  /** What the service of the rehearsal has booked. */
  const booked = () => readLines<{ balance: number }>(join(place.folder, '.mediabatch/sandbox/ledger.jsonl'));

  describe('the account of a rehearsal', () => {
    test('covers the campaign in every run, and a budget is still a limit', async () => {
      place.write('campaign.yaml', manifest());
      const short = await rehearse('--sandbox-credits', '3', '--json');
      expect(short).toMatchObject({ code: 4 });
      expect(JSON.parse(short.out).stopped).toMatchObject({ because: 'balance' });
      expect(booked().at(-1)?.balance).toBe(1);
      expect(await rehearse()).toMatchObject({ code: 0, err: expect.stringContaining('all 4 steps done') });
      expect(booked()).toHaveLength(4);
      const hint = { code: 0, err: expect.stringContaining('a sandbox lock exists: add --sandbox (or set') };
      expect(await place.run('status', 'campaign.yaml')).toMatchObject(hint);
      expect((await place.run('status', 'campaign.yaml', '--sandbox')).err).not.toContain('a sandbox lock exists');
      place.write('campaign.yaml', manifest('budget: { credits: 10 }'));
      await expectExit(4, rehearse('--redo', 'pic'));
      expect(booked()).toHaveLength(5);
    });

    test.each([
      ['--sandbox-credits', '5'],
      ['--sandbox-speed', '5'],
      ['--sandbox-fail-rate', '1'],
    ])('%s is refused with real money', async (...flag) => {
      place.write('campaign.yaml', manifest());
      expect(await place.run('apply', 'campaign.yaml', ...flag)).toMatchObject({
        code: 64,
        err: expect.stringContaining(`${flag[0]} requires --sandbox`),
      });
      expect(existsSync(join(place.folder, '.mediabatch'))).toBe(false);
    });
  });

  test('a sandbox that is gone is reported at once with the next command, where its jobs are needed', async () => {
    const gone = () => rmSync(join(place.folder, '.mediabatch/sandbox'), { recursive: true });
    place.write('campaign.yaml', manifest());
    expect(await rehearse('-s', 'pic')).toMatchObject({ code: 0 });
    gone();
    // Nothing is asked of it.
    expect(await rehearse('-s', 'pic')).toMatchObject({ code: 0 });
    // The cover uses a link of a picture that is here.
    const refused = await rehearse();
    expect([refused.code, refused.err]).toEqual([
      65,
      expect.stringContaining('does not have 1 job that this run needs'),
    ]);
    expect(refused.err).toContain('mediabatch forget campaign.yaml --sandbox pic@a --force');
    expect(booked()).toEqual([]);
    await expectExit(
      0,
      command(['forget', 'campaign.yaml', '--sandbox', 'pic@a', '--force'], {
        cwd: place.folder,
      }),
    );
    expect(await rehearse()).toMatchObject({ code: 0, err: expect.stringContaining('all 4 steps done') });
  });

  describe('a rehearsal of a service with names, prices and accounts of its own', () => {
    const own = `version: 1
name: spring
tasks:
  pic: { kind: image, with: { prompt: a lamp, resolution: 1k }, save: out/pic }
  film: { kind: video, with: { prompt: pan, model: motion-9, imageUrl: "{{tasks.pic.url}}" }, save: out/film }
  thumb: { kind: thumbnail, with: { headline: Hello }, save: out/thumb }
  cuts: { kind: clipping, with: { sourceUrl: "{{tasks.film.url}}" }, save: out/cuts }
  voice: { kind: voiceover, with: { text: Hello, voice_id: voice-9 }, save: out/voice }
  share: { kind: post, with: { accountIds: [acc_ig_en], content: Hello, mediaUrls: ["{{tasks.film.url}}"] } }
`;

    test('without its document unknown names are warnings, and every file is made', async () => {
      place.write('campaign.yaml', own);
      const ran = await rehearse('--publish');
      expect(ran, ran.err).toMatchObject({ code: 0, err: expect.stringContaining('all 6 steps done') });
      for (const name of [
        'the sandbox does not know the `voice_id` "voice-9"',
        '`model` is "motion-9", which the sandbox does not know',
        'the account `acc_ig_en`',
        '`imageUrl`',
      ]) {
        expect(ran.err).toContain(name);
      }
      expect(ran.err).toContain('`plan --refresh` with a key reads the fields and models of your service');
      expect(await rehearse('--publish')).toMatchObject({ code: 0 });
      expect(booked()).toHaveLength(6);
      // Only commands that check or buy repeat the warnings.
      expect((await place.run('status', 'campaign.yaml', '--sandbox')).err).toBe('');
    });

    test('with its document, its fields and prices count, and invalid requests are refused', async () => {
      const names = { ...described.names, thumbnail: { title: 'headline' } };
      const service = await OtherService.open({ ...described, names });
      onTestFinished(() => service.close());
      const run = (...args: string[]) => command(args, { cwd: place.folder, env: service.env });
      place.write('campaign.yaml', own.replace(/ {2}(cuts|voice|share):.*\n/g, '').replace('motion-9', 'film-1'));
      expect(await run('plan', '--refresh')).toMatchObject({ code: 0 });
      const seen = service.seen.length;
      const flags = ['--sandbox', '--yes', '--sandbox-speed', '10000', '--poll-interval', '10'];
      const ran = await run('apply', ...flags);
      expect(ran, ran.err).toMatchObject({ code: 0, err: expect.not.stringContaining('warning') });
      expect(ran.err).toMatch(/estimate +(\d+) for \d+ jobs? · \1 charged/);
      place.write('campaign.yaml', own.replace('imageUrl:', 'aspectRatio: [x], imageUrl:'));
      expect(await run('plan', '--sandbox')).toMatchObject({ code: 65, err: expect.stringContaining('`aspectRatio`') });
      expect([service.seen.length, service.books.jobs]).toEqual([seen, []]);
    });
  });
});
