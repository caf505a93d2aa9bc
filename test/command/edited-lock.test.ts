import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { makeTrial, type Trial } from '../rig/trial.ts';

/** A video is bought anew each time it is asked for: what the lock forgets, is paid again. */
const manifest = `version: 1
name: edited
tasks:
  pic: { kind: image, foreach: [a, b], with: { prompt: "a {{row}}", resolution: 1k } }
  teaser: { kind: video, with: { prompt: slow, image: "https://example.com/a.png" } }
`;

async function bought(): Promise<{ trial: Trial; lock: string; write(edited: string | Uint8Array): void }> {
  const trial = await makeTrial(manifest);
  const first = await trial.apply();
  expect(first.code, first.err).toBe(0);
  expect(trial.sandbox.ledger()).toHaveLength(3);
  const path = trial.path('campaign.lock.jsonl');
  const lock = readFileSync(path, 'utf8');
  expect(lock.trimEnd().split('\n').at(-1)).toContain('"teaser"');
  return { trial, lock, write: (edited) => writeFileSync(path, edited) };
}

describe('a lock that something else wrote', () => {
  test('is accepted if complete: other line ends, order, blanks, no final newline', async () => {
    const { trial, lock, write } = await bought();
    const lines = lock.trimEnd().split('\n');
    const edits = [
      lock.replaceAll('\n', '\r\n'),
      lock.replaceAll('\n', '\r'),
      lock.trimEnd().replaceAll('\n', '\r'),
      `\ufeff${lock}`,
      `${[...lines].reverse().join('\n')}`,
      `${lock.trimEnd()}  `,
    ];
    for (const edited of edits) {
      write(edited);
      const again = await trial.apply();
      expect(again.code, `${JSON.stringify(edited.slice(-80))}: ${again.err}`).toBe(0);
      expect(trial.sandbox.ledger()).toHaveLength(3);
      const after = readFileSync(trial.path('campaign.lock.jsonl'), 'utf8');
      for (const { id } of trial.sandbox.ledger()) expect(after).toContain(id);
      expect(after.endsWith('\n')).toBe(true);
      expect(after).not.toContain('\r');
    }
  }, 60_000);

  test('is refused if it is damaged or its last line is cut: nothing is sent, nothing is changed', async () => {
    const { trial, lock, write } = await bought();
    const lines = lock.trimEnd().split('\n');
    const id = trial.sandbox.ledger().at(-1)?.id ?? '';
    const edits = [
      Buffer.from(lock, 'utf16le'),
      Buffer.from(lines.map((line) => JSON.stringify(JSON.parse(line), null, 2)).join('\n')),
      Buffer.from(lines.join('')),
      Buffer.from(`[${lines.join(',\n')}]`),
      Buffer.from(lock.slice(0, lock.indexOf(id) + 3)),
      Buffer.from(lock.slice(0, -2)),
    ];
    for (const edited of edits) {
      write(edited);
      rmSync(trial.path('.mediabatch/campaign.lock.jsonl.written'), { force: true });
      const again = await trial.apply();
      expect(again.code, again.err).toBe(65);
      expect(again.err).toMatch(/MB2001 campaign\.lock\.jsonl:\d+: /);
      expect(again.err).toContain('git restore');
      expect(readFileSync(trial.path('campaign.lock.jsonl')).equals(edited)).toBe(true);
    }
    expect(trial.sandbox.ledger()).toHaveLength(3);
  }, 60_000);

  test('was created without a first line, or emptied: it starts again', async () => {
    for (const text of ['', '\n', '\r\n', '{"mediab', '\0\0\0\0']) {
      const trial = await makeTrial(manifest.replace(/ {2}teaser.*\n/, ''));
      trial.write('campaign.lock.jsonl', text);
      const first = await trial.apply();
      expect(first.code, first.err).toBe(0);
      expect(readFileSync(trial.path('campaign.lock.jsonl'), 'utf8')).toMatch(/^\{"mediabatch":"lock"/);
      expect((await trial.apply()).err).toContain('Nothing to do');
    }
    const trial = await makeTrial(manifest);
    trial.write('campaign.lock.jsonl', 'hello\n');
    const { code, err } = await trial.apply();
    expect(code).toBe(65);
    expect(err).toContain('is not a lock of mediabatch');
  }, 60_000);
});
