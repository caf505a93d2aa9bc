import { mkdirSync, readFileSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openerOf } from '../../src/cli/open-file.ts';
import { command, temporaryFolder } from '../rig/command.ts';
import { runInProcess } from './in-process.ts';

const manifest = `version: 1
name: open
tasks:
  pic: { kind: image, foreach: [a, b], with: { prompt: "{{row}}", resolution: 1k }, save: "-o/-$(id) {{row}}'s" }
  logo: { kind: upload, with: { file: logo.png } }
`;

/** A campaign whose step `pic@a` is bought; `xdg-open` writes down what it is asked, and does as `does` says. */
async function bought(does = '') {
  const { path: folder, remove } = temporaryFolder();
  onTestFinished(remove);
  writeFileSync(join(folder, 'campaign.yaml'), manifest);
  writeFileSync(join(folder, 'logo.png'), 'logo');
  mkdirSync(join(folder, 'bin'));
  writeFileSync(join(folder, 'bin/xdg-open'), `#!/bin/sh\nprintf '%s\\n' "$#" "$@" > '${folder}/asked'\n${does}\n`, {
    mode: 0o755,
  });
  const env = { PATH: `${join(folder, 'bin')}:/usr/bin:/bin` };
  const args = ['--sandbox', '--yes', '--sandbox-speed', '1000', '-s', 'pic@a'];
  const applied = await command(['apply', 'campaign.yaml', ...args], { cwd: folder });
  expect(applied.code, applied.err).toBe(0);
  const run = (...words: string[]) => command(['open', 'campaign.yaml', '--sandbox', ...words], { cwd: folder, env });
  const look = (...words: string[]) =>
    runInProcess(['open', 'campaign.yaml', '--sandbox', '--print', ...words], {}, folder);
  return { folder, run, look, file: join(folder, "campaign.sandbox/-o/-$(id) a's.png") };
}

describe.skipIf(process.platform !== 'linux')('open', () => {
  test('gives the path of an output to the system, as one word and by no shell', async () => {
    const { folder, run, look, file } = await bought();
    const opened = await run('pic@a');
    expect(opened, opened.err).toMatchObject({ code: 0, out: '', err: '' });
    expect(readFileSync(join(folder, 'asked'), 'utf8')).toBe(`1\n${file}\n`);
    expect(await look('pic@a')).toMatchObject({ code: 0, out: `${file}\n`, err: '' });
  });

  test('says which command gets what is not here', async () => {
    const { folder, look, file } = await bought();
    const cases: [string, RegExp][] = [
      ['pic@b', /there is no file of pic@b: it is not bought[\s\S]* plan campaign\.yaml --sandbox --select pic@b/],
      ['pic', /name one: pic@a, pic@b/],
      ['logo', /kind upload gives no file/],
    ];
    for (const [name, said] of cases) {
      const { code, err } = await look(name);
      expect(code, name).toBe(64);
      expect(err).toMatch(said);
    }
    writeFileSync(join(folder, 'campaign.yaml'), manifest.replace('{{row}}"', 'new {{row}}"'));
    expect(await look('pic@a')).toMatchObject({ code: 0, err: expect.stringContaining('before its input changed') });
    unlinkSync(file);
    expect((await look('pic@a')).err).toMatch(/buys it anew: mediabatch apply campaign\.yaml --sandbox --select pic@a/);
    writeFileSync(join(folder, 'campaign.yaml'), manifest);
    expect((await look('pic@a')).err).toMatch(/for free: mediabatch apply campaign\.yaml --sandbox --select pic@a/);
    symlinkSync(join(folder, 'campaign.yaml'), file);
    expect((await look('pic@a')).code).toBe(64);
    const lock = join(folder, 'campaign.sandbox.lock.jsonl');
    writeFileSync(lock, readFileSync(lock, 'utf8').replace(/"path":"[^"]*"/, '"path":"run.desktop"'));
    writeFileSync(join(folder, 'campaign.sandbox/run.desktop'), '[Desktop Entry]');
    expect(await look('pic@a')).toMatchObject({ code: 64, out: '' });
  });

  test('says so when no program opens it', async () => {
    const { run } = await bought('exit 3');
    expect(await run('pic@a')).toMatchObject({
      code: 69,
      err: expect.stringMatching(/MB3305.*ended with 3[\s\S]*--print/),
    });
  });
});

test('each system has its opener', () => {
  expect(openerOf('/a b.png', 'darwin')).toEqual({ program: '/usr/bin/open', words: ['/a b.png'] });
  expect(openerOf('/a b,&c.png', 'win32')).toEqual({
    program: expect.stringContaining('rundll32.exe'),
    words: ['url.dll,FileProtocolHandler', expect.stringMatching(/^file:\/\/\/\S*a%20b,&c\.png$/)],
  });
});
