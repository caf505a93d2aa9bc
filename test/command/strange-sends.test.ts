import { existsSync, readFileSync } from 'node:fs';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type CommandOptions, temporaryFolder } from '../rig/command.ts';
import { makeTrial, withFaults } from '../rig/trial.ts';

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
