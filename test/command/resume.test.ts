import { readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { command, expectExit } from '../rig/command.ts';
import type { ServiceOptions } from '../rig/service-here.ts';
import { makeTrial, type Trial } from '../rig/trial.ts';
import { runInProcess } from './in-process.ts';
import { folderWith, guardElsewhere, header } from './scripted.ts';

describe('resume', () => {
  const csv = 'sku,name\na,Lamp\nb,Chair\nc,Vase\nd,Clock\n';
  const manifest = `version: 1
name: shop
tasks:
  hero:
    kind: image
    foreach: products.csv
    key: "{{row.sku}}"
    with: { prompt: "{{row.name}} on a table", resolution: 1k }
    save: images/{{row.sku}}
  song: { kind: music, with: { model: song-7.5, prompt: calm, output_format: wav } }
`;

  async function shop(options: { service?: ServiceOptions } = {}): Promise<Trial> {
    const trial = await makeTrial(manifest, options);
    trial.write('products.csv', csv);
    return trial;
  }

  function expectPaidOnce(trial: Trial, count: number): void {
    const keys = trial.sandbox.ledger().map(({ key }) => key);
    expect(keys).toHaveLength(count);
    expect(new Set(keys).size).toBe(count);
  }

  const slow = { service: { speed: 4 } };
  const attached = (trial: Trial) =>
    trial.events().filter(({ event, action }) => event === 'step-started' && action === 'attach');

  describe('a rerun pays nothing again', () => {
    test('nothing changed: exit 0, no request, no byte of the lock changed', async () => {
      const trial = await shop();
      await trial.apply([], { ends: 0 });
      expect(readdirSync(trial.path('images')).sort()).toEqual(['a.png', 'b.png', 'c.png', 'd.png']);
      const lock = readFileSync(trial.path('campaign.lock.jsonl'));
      await trial.sandbox.close();
      // With nobody listening any request would fail, and without a key none could be made.
      await trial.apply([], { env: { MEDIABATCH_API_KEY: '' }, ends: 0 });
      expect(readFileSync(trial.path('campaign.lock.jsonl'))).toEqual(lock);
    });

    test('after SIGKILL in the middle', async () => {
      const trial = await shop(slow);
      const first = await trial.apply(['-v'], {
        onErr: (_seen, child) => {
          if (trial.sandbox.ledger().length > 2) child.kill('SIGKILL');
        },
      });
      expect(first.signal).toBe('SIGKILL');
      const again = await trial.apply([], { ends: 0 });
      expect(again.err).toContain('took over');
      expect(attached(trial).length).toBeGreaterThan(0);
      expectPaidOnce(trial, 5);
    });

    test('with an edited output: the edited file is kept next to it', async () => {
      const trial = await shop();
      await trial.apply();
      writeFileSync(trial.path('images/b.png'), 'my edit');
      await trial.apply([], { ends: 0 });
      const aside = readdirSync(trial.path('images')).find((name) => name.includes('changed'));
      expect(readFileSync(trial.path(`images/${aside}`), 'utf8')).toBe('my edit');
      expectPaidOnce(trial, 5);
    });

    test('with rows in another order, and one more', async () => {
      const trial = await shop();
      await trial.apply();
      trial.write('products.csv', 'name,sku\nClock,d\nVase,c\nBench,e\nChair,b\nLamp,a\n');
      await trial.apply([], { ends: 0 });
      expectPaidOnce(trial, 6);
    });

    test('in a second clone: the same jobs', async () => {
      const trial = await shop();
      await trial.apply();
      const other = await makeTrial(manifest);
      other.write('products.csv', csv);
      // On a machine of its own: the purchase journal of the first one is not there.
      const { XDG_STATE_HOME = '' } = other.sandbox.env;
      await expectExit(0, other.apply([], { env: { ...trial.sandbox.env, XDG_STATE_HOME } }));
      expect(readFileSync(other.path('campaign.lock.jsonl'), 'utf8')).toBe(
        readFileSync(trial.path('campaign.lock.jsonl'), 'utf8'),
      );
      expectPaidOnce(trial, 5);
    });

    test('with a lock that git restored during a run: both are joined, no id is lost', async () => {
      const trial = await shop(slow);
      const empty = '{"mediabatch":"lock","version":2}\n';
      let swapped = false;
      const first = await trial.apply(['-v'], {
        onErr: () => {
          if (swapped || trial.sandbox.ledger().length < 3) return;
          swapped = true;
          writeFileSync(trial.path('other'), empty);
          renameSync(trial.path('other'), trial.path('campaign.lock.jsonl'));
        },
      });
      expect(swapped).toBe(true);
      expect([0, 73]).toContain(first.code);
      const recorded = readFileSync(trial.path('campaign.lock.jsonl'), 'utf8');
      for (const { id } of trial.sandbox.ledger()) expect(recorded).toContain(id);
      await trial.apply([], { ends: 0 });
      expectPaidOnce(trial, 5);
    });
  });
});

describe('edited lock', () => {
  /** A video is bought again each time it is asked for: what the lock forgets is paid twice. */
  const manifest = `version: 1
name: edited
tasks:
  pic: { kind: image, foreach: [a, b], with: { prompt: "a {{row}}", resolution: 1k } }
  teaser: { kind: video, with: { prompt: slow, image: "https://example.com/a.png" } }
`;

  async function bought(): Promise<{ trial: Trial; lock: string; write(edited: string | Uint8Array): void }> {
    const trial = await makeTrial(manifest);
    await trial.apply([], { ends: 0 });
    expect(trial.sandbox.ledger()).toHaveLength(3);
    const path = trial.path('campaign.lock.jsonl');
    const lock = readFileSync(path, 'utf8');
    expect(lock.trimEnd().split('\n').at(-1)).toContain('"teaser"');
    return { trial, lock, write: (edited) => writeFileSync(path, edited) };
  }

  describe('a lock that another program wrote', () => {
    test('is accepted if complete, whatever its line ends', async () => {
      const { trial, lock, write } = await bought();
      write(lock.trimEnd().replaceAll('\n', '\r'));
      await trial.apply([], { ends: 0 });
      const after = readFileSync(trial.path('campaign.lock.jsonl'), 'utf8');
      for (const { id } of trial.sandbox.ledger()) expect(after).toContain(id);
      expect(after).toMatch(/^[^\r]*\n$/);
      expect(trial.sandbox.ledger()).toHaveLength(3);
    });

    test('is refused if it is damaged or its last line is cut: nothing is sent, nothing is changed', async () => {
      const { trial, lock, write } = await bought();
      const id = trial.sandbox.ledger().at(-1)?.id ?? '';
      for (const edited of [Buffer.from(lock, 'utf16le'), Buffer.from(lock.slice(0, lock.indexOf(id) + 3))]) {
        write(edited);
        rmSync(trial.path('.mediabatch/campaign.lock.jsonl.written'), { force: true });
        const again = await trial.apply([], { ends: 65 });
        expect(again.err).toMatch(/MB2001 campaign\.lock\.jsonl:\d+: /);
        expect(again.err).toContain('git restore');
        expect(readFileSync(trial.path('campaign.lock.jsonl')).equals(edited)).toBe(true);
      }
      expect(trial.sandbox.ledger()).toHaveLength(3);
    });

    test('a lock without a first line, or an empty lock, starts again', async () => {
      for (const text of ['', '{"mediab']) {
        const trial = await makeTrial(manifest.replace(/ {2}teaser.*\n/, ''));
        trial.write('campaign.lock.jsonl', text);
        await trial.apply([], { ends: 0 });
        expect(readFileSync(trial.path('campaign.lock.jsonl'), 'utf8')).toMatch(/^\{"mediabatch":"lock"/);
        expect((await trial.apply()).err).toContain('Nothing to do');
      }
      const trial = await makeTrial(manifest);
      trial.write('campaign.lock.jsonl', 'hello\n');
      const { code, err } = await trial.apply();
      expect(code).toBe(65);
      expect(err).toContain('is not a lock of mediabatch');
    });
  });
});

describe('removals', () => {
  const run = (args: string[], env: Record<string, string>, cwd: string) => command(args, { cwd, env });

  const manifest = `version: 1
name: small
tasks:
  song: { kind: music, with: { prompt: calm, model: song-7.5 } }
  thumb: { kind: thumbnail, with: { title: Hello } }
  pic: { kind: image, with: { prompt: a dog, resolution: 1k } }
`;

  async function finished(): Promise<Trial> {
    const trial = await makeTrial(manifest);
    await trial.apply([], { ends: 0 });
    return trial;
  }

  test('a step removed from the manifest is not part of a run', async () => {
    const trial = await finished();
    trial.write('campaign.yaml', manifest.replace(/ {2}thumb.*\n/, '').replace('a dog', 'a cat'));
    const { err } = await trial.apply([], { ends: 0 });
    expect(err).toContain('1 no longer in the manifest');
    expect(err).toContain('small: all 2 steps done (1 of them in earlier runs)');
    expect(err).not.toMatch(/not started|to go on/);
    expect(trial.events()).toContainEqual(expect.objectContaining({ event: 'run-started', steps: 2 }));
  });

  describe('destroy', () => {
    test('removes orphans or the named records, keeps lock and files, and buys nothing again', async () => {
      const trial = await finished();
      trial.write('campaign.yaml', manifest.replace(/ {2}thumb.*\n/, ''));
      const orphans = await trial.run(['destroy', 'campaign.yaml', '--orphans', '--yes', '--json']);
      expect(JSON.parse(orphans.out || '{}').records, orphans.err).toMatchObject([
        { address: 'thumb', isOrphan: true, result: 'removed' },
      ]);
      trial.write('campaign.yaml', manifest);
      const before = readFileSync(trial.path('campaign.lock.jsonl'), 'utf8');
      const unasked = await runInProcess(['destroy', 'campaign.yaml', 'song'], trial.sandbox.env, trial.folder);
      expect(unasked.code).toBe(64);
      expect(unasked.err).toContain('--yes');
      const program = { env: { AI_AGENT: 'x' } };
      expect((await trial.run(['destroy', 'campaign.yaml', '*', '--yes'], program)).err).toContain('MB3004');
      const { code, out, err } = await trial.run(['destroy', 'campaign.yaml', '*', '--yes', '--json']);
      expect(code, err).toBe(0);
      const results = JSON.parse(out).records.map(({ kind, result }: { kind: string; result: string }) => [
        kind,
        result,
      ]);
      expect(results).toEqual([
        ['music', 'removed'],
        ['thumbnail', 'gone'],
      ]);
      expect(err).toContain('cannot be downloaded again');
      expect(readFileSync(trial.path('campaign.lock.jsonl'), 'utf8')).toBe(before);
      const plan = JSON.parse(
        (await runInProcess(['plan', 'campaign.yaml', '--json'], trial.sandbox.env, trial.folder)).out,
      );
      expect(new Set(plan.rows.map(({ action }: { action: string }) => action))).toEqual(new Set(['keep']));
    });

    test('does not wait for a run that holds the lock', async () => {
      const folder = folderWith({
        'campaign.yaml': manifest,
        'campaign.lock.jsonl': `${header}\n`,
        '.mediabatch/campaign.lock.jsonl.guard': guardElsewhere,
      });
      for (const args of [
        ['destroy', 'campaign.yaml', '--orphans'],
        ['gc', 'campaign.yaml'],
      ]) {
        const { code, err } = await runInProcess([...args, '--yes', '--lock-timeout', '0'], {}, folder);
        expect([code, err.includes('f00df00df00df00d')], err).toEqual([75, true]);
      }
      expect((await runInProcess(['unlock'], {}, folder)).err).toContain('unlock campaign.yaml --id f00df00df00df00d');
    });
  });

  describe('gc', () => {
    test('deletes nothing while another lock of the folder cannot be read', async () => {
      const folder = folderWith({
        'campaign.yaml': manifest,
        'campaign.lock.jsonl': `${header}\n`,
        'other.lock.jsonl': `${header}\n{"address":\n${header}\n`,
      });
      const { code, err } = await runInProcess(['gc', 'campaign.yaml', '--yes'], {}, folder);
      expect(code).toBe(65);
      expect(err).toContain('other.lock.jsonl cannot be read');
    });

    test('deletes the files of removed steps after a prompt, and reports the freed bytes', async () => {
      const trial = await finished();
      expect((await runInProcess(['gc', 'campaign.yaml'], trial.sandbox.env, trial.folder)).err).toContain(
        'nothing to delete',
      );
      trial.write('campaign.yaml', manifest.replace(/ {2}song.*\n/, ''));
      const unasked = await runInProcess(['gc', 'campaign.yaml'], trial.sandbox.env, trial.folder);
      expect([unasked.code, unasked.err.includes('output/song.mp3')]).toEqual([64, true]);
      const { out, err } = await runInProcess(
        ['gc', 'campaign.yaml', '--yes', '--json'],
        trial.sandbox.env,
        trial.folder,
      );
      const { files, bytesFreed } = JSON.parse(out);
      expect(files, err).toMatchObject([{ path: 'output/song.mp3', deleted: true, bytes: bytesFreed }]);
      expect(() => readFileSync(trial.path('output/song.mp3'))).toThrow('ENOENT');
      expect(readFileSync(trial.path('output/pic.png')).length).toBeGreaterThan(0);
      // Bought and still known to the service: wanting it again costs nothing.
      trial.write('campaign.yaml', manifest);
      expect((await trial.apply()).code).toBe(0);
      expect(trial.sandbox.ledger()).toHaveLength(3);
      expect(readFileSync(trial.path('output/song.mp3'))).toHaveLength(bytesFreed);
    });
  });

  describe('gc --kept', () => {
    const words = (prompt: string) => manifest.replace('a dog', prompt);

    test('an old file is restored offline for 0 credits until it is deleted', async () => {
      const trial = await finished();
      const dog = readFileSync(trial.path('output/pic.png'));
      trial.write('campaign.yaml', words('a cat'));
      expect((await trial.apply()).code).toBe(0);
      const cat = readFileSync(trial.path('output/pic.png'));
      trial.write('campaign.yaml', words('a dog'));
      const nowhere = { ...trial.sandbox.env, MEDIABATCH_BASE_URL: 'http://127.0.0.1:9/api/v1' };
      const lock = ['--service-moved'];
      await trial.apply(lock, { env: nowhere, ends: 0 });
      expect(readFileSync(trial.path('output/pic.png')).equals(dog)).toBe(true);
      expect(trial.sandbox.ledger()).toHaveLength(4);
      // Forward again: the file at the path is of the other purchase, and nobody edited it.
      trial.write('campaign.yaml', words('a cat'));
      const forward = await trial.run(['plan', 'campaign.yaml'], { env: nowhere, ends: 0 });
      expect(forward.out.replaceAll(/\s+/g, ' ')).toContain(
        'the same request was bought before; its output is restored',
      );
      expect(
        JSON.parse((await trial.run(['cost', 'campaign.yaml', '--json'], { env: nowhere })).out).totals.superseded,
      ).toBeGreaterThan(0);
      trial.write('campaign.yaml', words('a dog'));

      const gc = async (...args: string[]) => {
        const { code, out, err } = await runInProcess(['gc', 'campaign.yaml', '--json', ...args], {}, trial.folder);
        return { code, err, files: out === '' ? [] : JSON.parse(out).files };
      };
      const listed = await gc('--kept', '--dry-run');
      const kept = { is: 'kept', was: 'output/pic.png', address: 'pic', deleted: false };
      expect(listed.files, listed.err).toMatchObject([kept, kept]);
      expect(listed.files.map(({ bytes }: { bytes: number }) => bytes).sort()).toEqual([dog.length, cat.length].sort());
      expect(listed.err).toContain('would delete 2 files');
      expect((await gc('--kept')).code).toBe(64);
      trial.write('campaign.yaml', words('a cat'));
      const wanted = await gc('--kept', '--dry-run');
      expect(wanted.files, wanted.err).toMatchObject([{ ...kept, bytes: dog.length }]);
      expect(wanted.err).toContain('the next apply needs the file');
      trial.write('campaign.yaml', words('a dog'));
      const gone = await gc('--kept', '--yes');
      expect(gone.files, gone.err).toMatchObject([{ deleted: true }, { deleted: true }]);
      expect((await gc('--kept', '--yes')).err).toContain('nothing to delete');
      expect(readFileSync(trial.path('output/pic.png')).equals(dog)).toBe(true);

      trial.write('campaign.yaml', words('a cat'));
      const plan = JSON.parse((await runInProcess(['plan', 'campaign.yaml', '--json'], {}, trial.folder)).out);
      expect(plan.rows.map(({ action }: { action: string }) => action)).toEqual(['keep', 'keep', 'download']);
    });

    test('ignores other file types and links', async () => {
      const trial = await finished();
      trial.write('campaign.yaml', words('a cat'));
      expect((await trial.apply()).code).toBe(0);
      const folder = trial.path('.mediabatch/kept');
      const [name = ''] = readdirSync(folder);
      const bytes = readFileSync(join(folder, name));
      writeFileSync(join(folder, name), 'damaged');
      writeFileSync(join(folder, 'notes.txt'), 'mine');
      symlinkSync('../../campaign.yaml', join(folder, `${'a'.repeat(64)}.png`));
      const left = await runInProcess(['gc', 'campaign.yaml', '--kept', '--yes'], {}, trial.folder);
      expect(left.err.match(/left alone/g)).toHaveLength(3);
      renameSync(folder, trial.path('elsewhere'));
      writeFileSync(trial.path(`elsewhere/${name}`), bytes);
      symlinkSync('../elsewhere', folder);
      const linked = await runInProcess(['gc', 'campaign.yaml', '--kept', '--yes'], {}, trial.folder);
      expect(linked.err).toContain('nothing to delete');
      expect(readdirSync(trial.path('elsewhere'))).toContain(name);
    });
  });

  test('--sandbox uses the state of sandbox runs, and creates none', async () => {
    const folder = folderWith({ 'campaign.yaml': manifest });
    for (const args of [['list', 'accounts'], ['list', 'jobs'], ['doctor'], ['list', 'voices']]) {
      const { code, err } = await runInProcess([...args, '--sandbox'], {}, folder);
      expect(code, `${args}: ${err}`).toBe(0);
    }
    expect(() => readFileSync(join(folder, '.mediabatch', 'sandbox', 'ledger.jsonl'))).toThrow('ENOENT');
    writeFileSync(join(folder, 'a.txt'), 'hello');
    expect((await run(['upload', 'a.txt', '--sandbox'], {}, folder)).code).toBe(0);
    const listed = JSON.parse((await runInProcess(['list', 'uploads', '--sandbox', '--json'], {}, folder)).out);
    expect(listed.uploads).toMatchObject([{ name: 'a.txt', bytes: 5 }]);
  });
});
