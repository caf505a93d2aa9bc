import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { apply, load, plan } from '../../src/index.ts';
import { terse } from '../rig/other-service/manners.ts';
import { OtherService } from '../rig/other-service/other-service.ts';
import { sitAtTheKeys } from './at-the-keys.ts';
import { runInProcess } from './in-process.ts';
import { folderWith } from './scripted.ts';

const manifest = `version: 1
name: shop
tasks:
  pic: { kind: image, foreach: [a, b, c, d, e, f], with: { prompt: "a {{row}}", model: alpha-2 }, save: "pics/{{row}}" }
`;

/** Its catalog says 3 credits for a picture, and it charges `credits`. */
async function dearService(credits: (nth: number) => number, text = manifest) {
  const service = await OtherService.open({ ...terse, isDescribed: false });
  onTestFinished(() => service.close());
  service.onBooked = (job) => {
    job.credits = credits(service.books.jobs.length);
  };
  const folder = folderWith({ 'campaign.yaml': text });
  return {
    folder,
    service,
    run: (...args: string[]) => runInProcess(args, service.env, folder),
    /** The same where somebody sits. */
    runHere: (seat: ReturnType<typeof sitAtTheKeys>, ...args: string[]) =>
      runInProcess(args, service.env, folder, seat),
    charged: () => service.books.jobs.reduce((sum, job) => sum + job.credits, 0),
  };
}

describe('the approved total is a limit', () => {
  test('an estimate that is too low ends the creates of its price, under --yes and below --max-credits', async () => {
    const { run, charged } = await dearService(() => 10);
    expect((await run('plan', 'campaign.yaml', '--refresh')).out).toContain('≈ 18 credits, at most 23');
    const first = await run('apply', 'campaign.yaml', '--yes', '--max-credits', '1000');
    expect([first.code, charged()]).toEqual([4, 10]);
    expect(first.err).toContain('was charged 10, where 3 was expected: the rest would come to 50, and 13 is left');
    expect(first.err).toMatch(/estimate +3 for 1 job · 10 charged, 7 more than estimated/);
    expect(first.err).toContain('nothing more is bought at a price above the approved total');
    const next = await run('apply', 'campaign.yaml', '--yes');
    expect([next.code, charged()]).toEqual([0, 60]);
  });

  test('prompts each time a charge exceeds the approval, until the user declines', async () => {
    const { run, runHere, charged } = await dearService((nth) => 10 ** nth);
    await run('plan', 'campaign.yaml', '--refresh');
    const answers = ['y', 'y', 'n'];
    const seat = sitAtTheKeys((keys) => void keys.write(`${answers.shift()}\n`));
    const { code, err } = await runHere(seat, 'apply', 'campaign.yaml');
    expect(err.split('asked again').length - 1, err).toBe(2);
    expect([code, charged(), answers]).toEqual([4, 110, []]);
    expect(err).toContain('nothing more was spent');
  });

  test('I39 a saved plan that is applied again keeps its maximum', async () => {
    const { run, charged } = await dearService(() => 10);
    await run('plan', 'campaign.yaml', '--refresh', '--out', 'x.plan.json');
    const codes = [];
    for (let nth = 0; nth < 3; nth += 1) codes.push((await run('apply', 'x.plan.json', '--yes')).code);
    expect([codes, charged()]).toEqual([[4, 4, 4], 20]);
    const last = await run('apply', 'x.plan.json', '--yes');
    expect(last.err).toContain('3 credits left: steps beyond that are not bought');
    // Agreed to anew, with what it comes to by now.
    expect((await run('apply', 'campaign.yaml', '--yes')).code).toBe(0);
    expect(charged()).toBe(60);
  });

  test.each([
    ['dearer', '4', 65, 'would be bought now for 4'],
    ['equally dear', '3', 0, ''],
    ['cheaper', '2', 0, ''],
    ['of unknown price', undefined, 65, 'would be bought now at an unknown price'],
  ])('a saved plan buys its purchases, and is refused if they cost more: %s', async (_, price, code, why) => {
    const priced = (image: string) => `${manifest}prices: { image: ${image} }\n`;
    const { run, charged, folder } = await dearService(() => Number(price), priced('3'));
    await run('plan', 'campaign.yaml', '--out', 'x.plan.json');
    writeFileSync(join(folder, 'campaign.yaml'), price === undefined ? manifest : priced(price));
    const applied = await run('apply', 'x.plan.json', '--yes');
    expect({ code: applied.code, err: applied.err }).toEqual({ code, err: expect.stringContaining(why) });
    expect(charged()).toBe(code === 0 ? 6 * Number(price) : 0);
  });

  test('I39 a price that rises within a run of eight at once', async () => {
    const { run, charged } = await dearService((nth) => nth);
    await run('plan', 'campaign.yaml', '--refresh');
    await run('apply', 'campaign.yaml', '--yes', '--concurrency', '8');
    expect(charged()).toBeLessThanOrEqual(23);
  });
});

describe('the library', () => {
  const planned = async (folder: string, { env }: OtherService) => {
    const { MEDIABATCH_BASE_URL: baseUrl = '', MEDIABATCH_API_KEY: token = '' } = env;
    const campaign = await load(join(folder, 'campaign.yaml'), {
      environment: { baseUrl, token },
    });
    return plan(campaign);
  };

  test('I39 what was charged under a plan counts when it is applied again', async () => {
    const { run, charged, folder, service } = await dearService(() => 10);
    await run('plan', 'campaign.yaml', '--refresh');
    const agreed = await planned(folder, service);
    const exits = [];
    for (let nth = 0; nth < 3; nth += 1) exits.push((await apply(agreed)).exit);
    expect([exits, charged()]).toEqual([[4, 4, 4], 20]);
  });
});

describe('estimate against charge', () => {
  test('ends every run that bought something: of unknown price, and one that the account ended with many failures', async () => {
    const unknown = await dearService(() => 3, manifest.replace('model: alpha-2', 'model: gamma-image-2'));
    const first = await unknown.run('apply', 'campaign.yaml', '--yes');
    expect(first.err).toMatch(/estimate +unknown for 6 jobs · 18 charged/);
    const rows = Array.from({ length: 60 }, (_, nth) => `r${nth}`).join(', ');
    const poor = await dearService(() => 3, manifest.replace('a, b, c, d, e, f', rows));
    await poor.run('plan', 'campaign.yaml', '--refresh');
    poor.service.books.balance = 90;
    poor.service.fate = ({ nth }) => (nth % 7 === 0 ? 500 : 'book');
    const { code, err } = await poor.run('apply', 'campaign.yaml', '--yes', '--concurrency', '4');
    expect(code).not.toBe(0);
    expect(err).toMatch(/estimate +\d+ for \d+ jobs · \d+ charged/);
  });
});
