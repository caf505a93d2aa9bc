import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { type CommandOptions, command, temporaryFolder } from '../rig/command.ts';
import { terse } from '../rig/other-service/manners.ts';
import { OtherService } from '../rig/other-service/other-service.ts';
import { makeTrial, withFaults } from '../rig/trial.ts';

describe('strange sends', () => {
  vi.setConfig({ testTimeout: 120_000 });

  const manifest = `version: 1
name: shop
prices: { image: 2 }
tasks:
  hero: { kind: image, with: { prompt: a lamp, resolution: 1k } }
  logo: { kind: image, with: { prompt: a sign, resolution: 1k } }
`;
  const program = { AI_AGENT: 'x' };

  /** A lock with an open send whose create never left, as a run that was killed leaves it, or somebody writes it by hand. */
  async function leftOpen() {
    const trial = await makeTrial(manifest, withFaults([{ on: 'create', times: 2, do: { type: 'reset' } }]));
    const [own, other] = [temporaryFolder(), temporaryFolder()];
    onTestFinished(() => {
      own.remove();
      other.remove();
    });
    const run = (args: string[], { env, ...options }: Partial<CommandOptions> = {}) =>
      trial.run(args, { ...options, env: { XDG_STATE_HOME: own.path, ...env } });
    const apply = (args: string[], options: Partial<CommandOptions> = {}) =>
      run(['apply', 'campaign.yaml', '--poll-interval', '10', ...args], options);
    const elsewhere = (env: Record<string, string> = {}) => ({ env: { XDG_STATE_HOME: other.path, ...env } });
    const lock = () =>
      existsSync(trial.path('campaign.lock.jsonl')) ? readFileSync(trial.path('campaign.lock.jsonl'), 'utf8') : '';
    const killed = await apply(['--yes', '-s', 'hero'], {
      onErr: (_seen, child) => {
        const look = setInterval(() => {
          if (lock().includes('"intent"')) child.kill('SIGKILL');
        }, 20);
        child.on('close', () => clearInterval(look));
      },
    });
    expect(killed.signal, killed.err).toBe('SIGKILL');
    expect(lock()).toContain('"intent"');
    expect(trial.sandbox.ledger()).toEqual([]);
    return { trial, apply, elsewhere };
  }

  test('I43 retrying a create that only the lock records needs an approval of its cost', async () => {
    const { trial, apply, elsewhere } = await leftOpen();
    const asked = await apply([], elsewhere(program));
    expect(asked.code, asked.err).toBe(5);
    expect(asked.err.replaceAll(/\s+/g, ' ')).toContain(
      'which pays once; it was sent elsewhere or long ago, so sending it again needs an approval',
    );
    expect(trial.sandbox.ledger()).toEqual([]);
    const agreed = await apply(['--yes', '-s', 'hero'], elsewhere());
    expect(agreed.code, agreed.err).toBe(0);
    expect(trial.sandbox.ledger()).toHaveLength(1);
  });

  test('I43 nor is one asked about that stands beside every step', async () => {
    const { trial, apply, elsewhere } = await leftOpen();
    trial.write('campaign.yaml', manifest.replace(/ {2}hero.*\n/, ''));
    const asked = await apply([], elsewhere(program));
    expect(asked.code, asked.err).toBe(5);
    expect(trial.sandbox.ledger()).toEqual([]);
  });

  test('the machine that was about to send it asks nobody: somebody agreed there', async () => {
    const { trial, apply } = await leftOpen();
    const went = await apply(['-s', 'hero'], { env: program });
    expect(went.code, went.err).toBe(5);
    expect(went.err).not.toContain('sending it again needs an approval');
    expect(trial.sandbox.ledger()).toHaveLength(1);
  });
});

/** Thumbnails at a service that does not say what they take, and a song whose price is documented. */
async function makeCampaign() {
  const service = await OtherService.open({ ...terse, paths: { ...terse.paths, thumbnail: '/thumbnails/create' } });
  const { path: folder, remove } = temporaryFolder();
  onTestFinished(() => service.close().then(remove));
  return {
    service,
    write: (budget: number, more = '', rows = 3) =>
      writeFileSync(
        join(folder, 'campaign.yaml'),
        `version: 1
name: untold
budget: { credits: ${budget} }
${more}
tasks:
  thumb: { kind: thumbnail, foreach: [${[...'abcdefghij'].slice(0, rows)}], with: { title: "{{row}}", description: d }, save: "out/{{row}}" }
  song: { kind: music, with: { model: song-7.5, prompt: p }, save: out/song }
`,
      ),
    run: (...args: string[]) => command([...args, 'campaign.yaml'], { cwd: folder, env: service.env }),
    apply: (...args: string[]) =>
      command(['apply', 'campaign.yaml', '--yes', '--poll-interval', '10', ...args], { cwd: folder, env: service.env }),
  };
}

const guess =
  /48 credits are reserved for thumb@a, a guess: no charge is on record, and nothing states a price of thumbnail/;

test('an unreported charge stays reserved and is shown; a higher budget resumes, and the balance reveals the other charges', async () => {
  const { service, write, run, apply } = await makeCampaign();
  write(30);
  const first = await apply();
  expect([first.code, service.books.jobs.length]).toEqual([4, 1]);
  expect(first.err).toMatch(guess);
  expect(first.err).not.toContain('used up');
  expect(first.err).toContain('48 reserved for creates whose charge is not known · 0 of 30 left');
  const plan = await run('plan');
  expect(plan.out.replace(/\s+/g, ' ')).toMatch(guess);
  expect(plan.out).toContain('30, 0 left');
  expect((await run('status')).out).toContain('0 of 30 left');
  write(200);
  const second = await apply();
  expect([second.code, service.books.jobs.map(({ credits }) => credits)]).toEqual([0, [4, 4, 4, 4]]);
});

test('a price set by the user replaces the reservation for an unknown charge', async () => {
  const { service, write, run, apply } = await makeCampaign();
  write(30);
  await apply();
  write(30, 'prices: { thumbnail: 4 }');
  const plan = await run('plan');
  expect(plan.out).toContain('4 for creates whose charge is not known');
  expect(plan.out).not.toMatch(/guess|outcome/);
  expect(plan.out).toContain('30, 26 left now');
  const { code, err } = await apply();
  expect([code, service.books.jobs.length]).toEqual([0, 4]);
  expect(err).toContain('14 of 30 left');
});

test('one unresolved create of unknown price reserves the highest price named for its kind', async () => {
  const { service, write, run, apply } = await makeCampaign();
  service.fate = ({ nth }) => (nth === 1 ? 'lose' : 'book');
  write(60, 'prices: { thumbnail/model=odd: 20 }');
  const { err } = await apply('--on-unknown', 'hold', '--select', 'thumb@a', '--select', 'song');
  expect(err).not.toMatch(/guess|fit/);
  expect(service.books.jobs.map(({ kind }) => kind)).toEqual(['thumbnail', 'music']);
  expect(err).toContain('20 reserved for creates whose charge is not known · 36 of 60 left');
  expect((await run('status')).out).toContain('20 reserved · 36 of 60 left');
});

test('a price rise that only the balance reveals: creates go one by one, and no more than the approved total is paid', async () => {
  const { service, write, apply } = await makeCampaign();
  service.books.rise = 4;
  write(100, '', 10);
  const { code, err } = await apply('--exclude', 'song');
  expect(code, err).toBe(4);
  // 4, 8 and 12: the third shows that the price rises.
  expect(service.books.jobs.map(({ credits }) => credits)).toEqual([4, 8, 12]);
  expect(err).toContain('20 spent now');
});
