import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkOutputs } from '../../../src/disk/outputs/outputs.ts';
import { makeFolder } from './folder.ts';
import { jpeg, png } from './media.ts';
import { recorded } from './targets.ts';

/** A clock by which every look at a file takes so long. */
function clockOf(msPerLook: number): () => number {
  let now = 0;
  return () => (now += msPerLook);
}

/** As long as before, and all but the last byte the same. */
function withOtherEnd(bytes: Uint8Array): Uint8Array {
  return Buffer.concat([bytes.subarray(0, -1), Uint8Array.of(255 - (bytes.at(-1) ?? 0))]);
}

const clocks = { 'a quick disk': clockOf(0), 'a slow disk': clockOf(100) };

describe.each(Object.entries(clocks))('checking outputs on %s', (_disk, clock) => {
  it('tells intact files from missing and changed ones', async () => {
    const root = makeFolder();
    mkdirSync(join(root, 'd'));
    writeFileSync(join(root, 'd', 'good.png'), png);
    writeFileSync(join(root, 'd', 'other-size.png'), png.subarray(1));
    writeFileSync(join(root, 'd', 'same-size.png'), Buffer.alloc(png.length));
    mkdirSync(join(root, 'd', 'folder.png'));
    symlinkSync('good.png', join(root, 'd', 'link.png'));
    symlinkSync('d', join(root, 'linked'));
    const expected = {
      // What a slow disk is known by.
      'd/first.png': 'missing',
      'd/good.png': 'intact',
      'd/other-size.png': 'changed',
      'd/same-size.png': 'changed',
      'd/folder.png': 'changed',
      'd/link.png': 'changed',
      'd/none.png': 'missing',
      'nowhere/x.png': 'missing',
      'linked/good.png': 'missing',
      'd/good.png/x.png': 'missing',
      '../x.png': 'changed',
      __proto__: 'missing',
    };
    const outputs = Object.keys(expected).map((path) => recorded(path, png));
    const states = await checkOutputs(root, outputs, { now: clock });
    expect(Object.fromEntries(states)).toEqual(expected);
    expect(await checkOutputs(join(root, 'not-there'), outputs.slice(0, 2), { now: clock })).toEqual(
      new Map([
        ['d/first.png', 'missing'],
        ['d/good.png', 'missing'],
      ]),
    );
  });

  it('looks at many files, small, large and empty ones', async () => {
    const root = makeFolder();
    const large = Buffer.alloc(1 << 20, png);
    const contents = [png, large, Buffer.alloc(0), large.subarray(0, 1 << 17), large.subarray(0, (1 << 17) + 1)];
    const outputs = Array.from({ length: 60 }, (_, index) => {
      const bytes = contents[index % contents.length] ?? png;
      const isChanged = index % 7 === 0 && bytes.length > 0;
      writeFileSync(join(root, `${index}.png`), isChanged ? withOtherEnd(bytes) : bytes);
      return { output: recorded(`${index}.png`, bytes), state: isChanged ? 'changed' : 'intact' };
    });
    const states = await checkOutputs(
      root,
      outputs.map(({ output }) => output),
      { now: clock },
    );
    expect(Object.fromEntries(states)).toEqual(
      Object.fromEntries(outputs.map(({ output, state }) => [output.path, state])),
    );
  });

  it('calls a path intact only when all records of it say the same', async () => {
    const root = makeFolder();
    writeFileSync(join(root, 'a.png'), png);
    const [first, other] = [recorded('a.png', png), recorded('a.png', jpeg)];
    expect((await checkOutputs(root, [first, first], { now: clock })).get('a.png')).toBe('intact');
    expect((await checkOutputs(root, [first, other], { now: clock })).get('a.png')).toBe('changed');
    expect((await checkOutputs(root, [other, first], { now: clock })).get('a.png')).toBe('changed');
  });
});

it('lets everything else have its turn while it looks at outputs', async () => {
  const root = makeFolder();
  writeFileSync(join(root, 'a.png'), png);
  let turns = 0;
  let isOver = false;
  const takeTurn = () => {
    turns += 1;
    if (!isOver) setImmediate(takeTurn);
  };
  setImmediate(takeTurn);
  // Each of them quick, and all of them together not.
  await checkOutputs(root, Array(1000).fill(recorded('a.png', png)), { now: clockOf(0.25) });
  isOver = true;
  expect(turns).toBeGreaterThanOrEqual(20);
});
