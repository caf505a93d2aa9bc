import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { makeProgram } from '../../src/cli/program/program.ts';
import { openStore } from '../../src/cluster/store/store.ts';
import { root, temporaryFolder } from '../rig/command.ts';
import { freshDatabase } from '../rig/postgres.ts';
import { typeInto } from '../rig/terminals.ts';
import { bufferTerminal } from './buffer-terminal.ts';

const read = (name: string) => readFileSync(join(root, 'examples/engine', name), 'utf8');
const compose = parse(read('compose.yaml'));
const [deployment, disruption] = parseAllDocuments(read('kubernetes.yaml')).map((one) => one.toJS());
const pod = deployment.spec.template.spec;
const [container] = pod.containers;
const unit = read('mediabatch-worker@.service');
const [, , ...ofUnit] = /^ExecStart=(.*)$/m.exec(unit)?.[1]?.replaceAll('%i', '1').split(' ').map(String) ?? [];

const commands: [string, string[]][] = [
  ['compose.yaml', compose.services.worker.command],
  ['kubernetes.yaml', container.args],
  ['mediabatch-worker@.service', ['worker', ...ofUnit]],
];

test.each(commands)('the command of %s exists, and its container waits for paid answers', async (_name, words) => {
  const { terminal } = bufferTerminal();
  const program = makeProgram({ terminal, exit: () => {} });
  const worker = program.commands.find((one) => one.name() === words[0]);
  let read: unknown;
  worker?.action((options) => {
    read = options;
  });
  await program.parseAsync(words, { from: 'user' });
  expect(read).toMatchObject({ port: expect.any(Number), store: expect.any(String), log: 'json' });
  expect(compose.services.worker.stop_grace_period).toBe('150s');
  expect(pod.terminationGracePeriodSeconds).toBe(150);
  expect(unit).toContain('TimeoutStopSec=150\n');
});

test('related parts use one name, port and version', () => {
  const labels = { app: 'mediabatch-worker' };
  expect([deployment.apiVersion, deployment.kind]).toEqual(['apps/v1', 'Deployment']);
  expect(deployment.spec.selector.matchLabels).toEqual(labels);
  expect(deployment.spec.template.metadata.labels).toEqual(labels);
  expect([disruption.apiVersion, disruption.kind]).toEqual(['policy/v1', 'PodDisruptionBudget']);
  expect(disruption.spec.selector.matchLabels).toEqual(labels);
  expect(deployment.spec.replicas).toBeGreaterThan(disruption.spec.minAvailable);
  const ports = [container.args, compose.services.worker.command].map((words) => words[words.indexOf('--port') + 1]);
  expect(new Set([...ports, String(container.ports[0].containerPort)])).toEqual(new Set(['9102']));
  expect(container.livenessProbe.httpGet).toEqual({ path: '/healthz', port: container.ports[0].name });
  expect(container.readinessProbe.httpGet).toEqual({ path: '/readyz', port: container.ports[0].name });
  expect(Object.keys(compose.services.worker.depends_on)).toEqual(['database']);
  const { version, peerDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const installed = read('Dockerfile').match(/[a-z0-9-]+@[\d.]+/g) ?? [];
  const wanted = ['pg', 'pg-boss', 'aws4fetch'].map((name) => `${name}@${peerDependencies[name]}`);
  expect(installed).toEqual([`mediabatch@${version}`, ...wanted]);
});

/** What a unit or a container runs, with a store and a port of this machine. */
function here(words: readonly string[], store: string): string {
  const own = words.map((word, index) => {
    if (words[index - 1] === '--store') return store;
    return words[index - 1] === '--port' ? '0' : word;
  });
  return own.map((word) => `'${word}'`).join(' ');
}

test.each(commands)(
  'the command of %s works on a database, is ready, and ends when it is told to',
  async (_name, words) => {
    const { path, remove } = temporaryFolder();
    onTestFinished(remove);
    const store = join(path, 'store');
    mkdirSync(store);
    await openStore(store, { makes: true });
    const names = read('worker.env.example').match(/^\w+/gm) ?? [];
    const values: { [name: string]: string } = {
      MEDIABATCH_BASE_URL: 'http://127.0.0.1:9/api/v1',
      MEDIABATCH_API_KEY: 'booking_live_one',
    };
    const worker = typeInto(path, `mediabatch ${here(words, store)}`, {
      MEDIABATCH_ENGINE: await freshDatabase(),
      ...Object.fromEntries(names.map((name) => [name, values[name]])),
    });
    const told = () =>
      worker
        .said()
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line));
    await vi.waitFor(() => expect(told().map(({ event }) => event)).toEqual(['listening', 'started']), 60_000);
    const [{ port }] = told();
    for (const place of ['healthz', 'readyz']) {
      expect((await fetch(`http://127.0.0.1:${port}/${place}`)).status, place).toBe(200);
    }
    await worker.interrupt('SIGTERM');
    expect(told().at(-1)).toMatchObject({ event: 'ending', because: 'SIGTERM' });
  },
);
