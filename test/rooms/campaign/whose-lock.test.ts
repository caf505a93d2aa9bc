import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { knownService } from '../../../src/campaign/paths.ts';
import { importStep, load, type OpenOptions, plan } from '../../../src/index.ts';
import type { Purchase, StepRecord } from '../../../src/lock/record.ts';
import { writeLines } from '../../../src/lock/write.ts';
import { temporaryFolder } from '../../rig/command.ts';

const environment = { baseUrl: 'http://127.0.0.1:9/api/v1', token: 'key_live_x' };
const service = knownService(false, environment) ?? '';
const kinds = {
  film: '{ kind: video, with: { prompt: a lamp } }',
  tell: '{ kind: post, with: { postContent: { caption: Hello }, accounts: [acc_1] } }',
  pic: '{ kind: image, with: { prompt: a lamp, resolution: 1k } }',
};
const manifestOf = (...names: (keyof typeof kinds)[]) =>
  `version: 1\nname: spring\ntasks:\n${names.map((name) => `  ${name}: ${kinds[name]}\n`).join('')}`;

function place() {
  const folder = temporaryFolder();
  onTestFinished(() => folder.remove());
  const at = (name: string) => join(folder.path, name);
  const write = (name: string, text: string) => {
    mkdirSync(dirname(at(name)), { recursive: true });
    writeFileSync(at(name), text);
  };
  const planned = async (file: string, options: OpenOptions & { new?: boolean } = {}) => {
    const { new: isNew, ...opening } = options;
    return plan(await load(at(file), { environment, ...opening }), { new: isNew });
  };
  return { at, write, planned };
}

/** A lock of a campaign with exactly these steps, each in this state. */
async function lockOf(state: 'done' | 'unresolved' | 'refused', ...names: (keyof typeof kinds)[]): Promise<string> {
  const { at, write } = place();
  write('any.yaml', manifestOf(...names));
  const { graph } = await load(at('any.yaml'), { environment });
  const steps = new Map<string, StepRecord>();
  for (const { address, kind, fingerprint, paidRequest } of graph?.steps ?? []) {
    const made = { fingerprint, generation: 1, attempt: 1, state, key: `mb2-${address}`, request: paidRequest };
    const open = { send: 's0123456789abcdef', since: '2026-11-01T00:00:00.000Z' };
    const more = state === 'done' ? { jobId: `job_${address}` } : state === 'unresolved' ? open : {};
    steps.set(address, { address, kind, purchases: [{ ...made, ...more } as Purchase] });
  }
  return [...writeLines({ version: 2, service, steps })].join('');
}

const code = (wanted: string) => ({ failure: { code: wanted } });

describe('a lock that has lost its manifest', () => {
  test.each(['film', 'tell', 'pic'] as const)('counts with open sends only, and with jobs: %s', async (name) => {
    for (const state of ['unresolved', 'done'] as const) {
      const { write, planned } = place();
      write('campaign.lock.jsonl', await lockOf(state, name));
      write('spring.yaml', manifestOf(name));
      await expect(planned('spring.yaml'), state).rejects.toMatchObject(code('MB3410'));
      const { plan: made } = await planned('spring.yaml', { new: true });
      expect(made.rows.map(({ action }) => action)).toEqual(['create']);
    }
  });

  test('counts in any form that the reader takes', async () => {
    const text = await lockOf('done', 'film');
    for (const other of [
      text.replaceAll('":', '": ').replaceAll(',"', ', "'),
      text.replaceAll('\n', '\r\n'),
      `\ufeff${text}`,
      text.slice(0, -30),
      `${text}{"mediabatch":"lock","version":99}\n`,
      text.replace(`,"service":"${service}"`, ''),
    ]) {
      const { write, planned } = place();
      write('campaign.lock.jsonl', other);
      write('spring.yaml', manifestOf('film'));
      await expect(planned('spring.yaml'), other).rejects.toMatchObject(code('MB3410'));
    }
  });

  test('counts under any name of a file of lines', async () => {
    const { write, planned } = place();
    write('spring.yaml', manifestOf('film'));
    write('rows.jsonl', '{"sku":"a"}\n');
    expect((await planned('spring.yaml')).plan.rows).toHaveLength(1);
    write('state/bought.jsonl', await lockOf('done', 'film'));
    await expect(planned('spring.yaml')).rejects.toMatchObject(code('MB3410'));
  });

  test('has none in a table of its name; a manifest with mistakes, half edited or in JSON is one', async () => {
    const { write, planned } = place();
    write('campaign.lock.jsonl', await lockOf('done', 'film'));
    write('spring.yaml', manifestOf('film'));
    for (const [name, table] of [
      ['campaign.json', '[{ "sku": "a" }]'],
      ['campaign.json', '{ "rows": [] }'],
      ['campaign.yaml', '- sku: a\n'],
      ['campaign.yml', ''],
    ] as const) {
      write(name, table);
      await expect(planned('spring.yaml'), table).rejects.toMatchObject(code('MB3410'));
    }
    for (const text of [manifestOf('film'), 'tasks: { a: { kind: nonsense } }', 'name: x\ntasks:\n  a: { kind: [\n']) {
      write('campaign.yaml', text);
      expect((await planned('spring.yaml')).plan.rows, text).toHaveLength(1);
    }
    write('campaign.yaml', '');
    write('campaign.json', JSON.stringify({ version: 1, name: 'x', tasks: {} }));
    expect((await planned('spring.yaml')).plan.rows).toHaveLength(1);
  });

  test.each([
    ['into a folder of the repository', 'old/campaign.lock.jsonl', 'new/deep/campaign.yaml', '.git/HEAD'],
    ['out of a folder', 'old/campaign.lock.jsonl', 'campaign.yaml', '.git/HEAD'],
    ['into a folder beside the lock, without git', 'campaign.lock.jsonl', 'new/campaign.yaml', 'notes.txt'],
    ['and the lock was set aside', 'campaign.lock.jsonl.bak', 'campaign.yaml', 'notes.txt'],
  ])('when the manifest was moved %s, it counts with any of its steps', async (_name, lock, manifest, other) => {
    for (const name of ['film', 'tell', 'pic'] as const) {
      const { at, write, planned } = place();
      write(other, '');
      write(lock, await lockOf('done', name));
      write(manifest, manifestOf(...new Set([name, 'film'] as const)).replace('name: spring', 'name: summer'));
      await expect(planned(manifest), name).rejects.toMatchObject(code('MB3410'));
      const before = process.cwd();
      try {
        for (const folder of [dirname(at(manifest)), at('.')]) {
          process.chdir(folder);
          await expect(planned(manifest), folder).rejects.toMatchObject(code('MB3410'));
        }
      } finally {
        process.chdir(before);
      }
      expect((await planned(manifest, { new: true })).plan.rows.length).toBeGreaterThan(0);
    }
  });

  test('does not count elsewhere in the tree without a step of this campaign, in tools’ folders, behind links, refused, or as play money', async () => {
    const { at, write, planned } = place();
    write('.git/HEAD', '');
    write('old/campaign.lock.jsonl', await lockOf('done', 'tell'));
    write('node_modules/x/campaign.lock.jsonl', await lockOf('done', 'film'));
    write('.mediabatch/campaign.lock.jsonl', await lockOf('done', 'film'));
    write('elsewhere', await lockOf('done', 'film'));
    symlinkSync(at('elsewhere'), at('linked.lock.jsonl'));
    mkdirSync(at('folder.lock.jsonl'));
    write('refused.lock.jsonl', await lockOf('refused', 'film'));
    write('play.sandbox.lock.jsonl', (await lockOf('done', 'film')).replace(service, 'sandbox'));
    write('staging.lock.jsonl', (await lockOf('done', 'film')).replace(service, 'another'));
    write('spring.yaml', manifestOf('film'));
    expect((await planned('spring.yaml')).plan.rows).toHaveLength(1);
    renameSync(at('elsewhere'), at('now.lock.jsonl'));
    await expect(planned('spring.yaml')).rejects.toMatchObject(code('MB3410'));
  });

  test('does not count where it has its manifest: a copy is a campaign of its own', async () => {
    const { write, planned } = place();
    write('.git/HEAD', '');
    write('old/campaign.yaml', manifestOf('film'));
    write('old/campaign.lock.jsonl', await lockOf('done', 'film'));
    write('new/campaign.yaml', manifestOf('film'));
    write('old/copy.yaml', manifestOf('film'));
    for (const file of ['new/campaign.yaml', 'old/copy.yaml'])
      expect((await planned(file)).plan.rows[0]?.action).toBe('create');
  });

  test('is nobody’s to begin another beside, by a decision either', async () => {
    const { at, write } = place();
    write('campaign.lock.jsonl', await lockOf('done', 'film', 'pic'));
    write('spring.yaml', manifestOf('film', 'pic'));
    const campaign = await load(at('spring.yaml'), { environment });
    const decided = importStep(campaign, { address: 'film', job: 'job_x', offline: true }, {});
    await expect(decided).rejects.toMatchObject(code('MB3410'));
  });
});

describe('--lock', () => {
  test('that is not there beside one of nearly this name, or beside the manifest’s own, is a slip until somebody says so', async () => {
    const { at, write, planned } = place();
    const lock = (name: string) => ({ lock: at(name) });
    write('campaign.yaml', manifestOf('pic'));
    expect((await planned('campaign.yaml', lock('first.lock.jsonl'))).plan.rows).toHaveLength(1);
    write('prod.lock.jsonl', await lockOf('done', 'film'));
    const near = planned('campaign.yaml', lock('prd.lock.jsonl'));
    await expect(near).rejects.toMatchObject({
      failure: { code: 'MB3411', hint: expect.arrayContaining([expect.stringContaining('prod.lock.jsonl')]) },
    });
    expect((await planned('campaign.yaml', lock('elsewhere.lock.jsonl'))).plan.rows).toHaveLength(1);
    write('campaign.lock.jsonl', await lockOf('done', 'film'));
    for (const name of ['elsewhere.lock.jsonl', 'campain.lock.jsonl', 'locks/elsewhere.jsonl']) {
      await expect(planned('campaign.yaml', lock(name)), name).rejects.toMatchObject(code('MB3411'));
      expect((await planned('campaign.yaml', { ...lock(name), new: true })).plan.rows).toHaveLength(1);
    }
    write('elsewhere.lock.jsonl', '');
    await expect(planned('campaign.yaml', lock('elsewhere.lock.jsonl'))).rejects.toMatchObject(code('MB3411'));
    write('elsewhere.lock.jsonl', await lockOf('done', 'film'));
    expect((await planned('campaign.yaml', lock('elsewhere.lock.jsonl'))).plan.rows).toHaveLength(2);
  });
});
