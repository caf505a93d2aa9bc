import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { openCampaign } from '../../../src/campaign/open-campaign.ts';
import { findOutputs } from '../../../src/campaign/outputs-list.ts';
import { measureFile } from '../../../src/disk/outputs/measure-files.ts';
import { outputsList, outputsTable } from '../../../src/report/outputs/outputs-list.ts';
import { makeFolder } from '../../rig/folder.ts';
import { buyEverything } from '../../rig/review/bought-campaign.ts';

const box = (name: string, content: Buffer) => {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(8 + content.length);
  head.write(name, 4, 'latin1');
  return Buffer.concat([head, content]);
};
/** A JUMBF box with the description of a C2PA manifest store, as far as anybody looks at it. */
const type = Buffer.from('00110010800000aa00389b7103', 'hex');
const store = box('jumb', box('jumd', Buffer.concat([Buffer.from('c2pa'), type, Buffer.from('c2pa\0')])));
const c2pa = Buffer.from('d8fec3d61b0e483c92975828877ec481', 'hex');
const drawn = sharp({ create: { width: 30, height: 20, channels: 3, background: '#456' } });

const insert = (bytes: Buffer, at: number, what: Buffer) =>
  Buffer.concat([bytes.subarray(0, at), what, bytes.subarray(at)]);

async function png(isSigned: boolean) {
  const bytes = await drawn.clone().png().toBuffer();
  const chunk = Buffer.concat([box('caBX', store), Buffer.alloc(4)]);
  chunk.writeUInt32BE(store.length);
  return isSigned ? insert(bytes, 33, chunk) : bytes;
}

const ftyp = box('ftyp', Buffer.from('isommp42'));
const uuid = (isSigned: boolean) => box('uuid', isSigned ? Buffer.concat([c2pa, store]) : Buffer.alloc(40));

const film = async (isSigned: boolean) => Buffer.concat([ftyp, uuid(isSigned), box('mdat', Buffer.alloc(99))]);

/** Longer than the ends that are searched. */
const longFilm = async (isSigned: boolean) => {
  return Buffer.concat([ftyp, box('mdat', Buffer.alloc(3 << 20)), ...(isSigned ? [uuid(true)] : [])]);
};

describe('content credentials', () => {
  test.each([
    ['a.png', 'image/png', png],
    ['a.mp4', 'video/mp4', film],
    ['b.mp4', 'video/mp4', longFilm],
  ])('are found in %s (%s), and not where there are none', async (path, type, make) => {
    const root = makeFolder();
    for (const isSigned of [true, false]) {
      const bytes = await make(isSigned);
      const find = async (content: Buffer) => {
        writeFileSync(join(root, path), content);
        const output = { path, type, bytes: content.length, sha256: '' };
        return measureFile({ root }, { output, aspects: ['credentials'] });
      };
      expect(await find(bytes)).toEqual({ hasCredentials: isSigned });
      // Cut, or empty of sense, it ends all the same.
      for (const length of [0, 5, 13, 30])
        expect(await find(bytes.subarray(0, length))).toEqual({ hasCredentials: false });
      expect(await find(Buffer.concat([bytes.subarray(0, 12), Buffer.alloc(5000)]))).toEqual({ hasCredentials: false });
    }
  });

  test('are named in lists of outputs; the file stays as it came', async () => {
    const folder = makeFolder();
    const file = join(folder, 'campaign.yaml');
    const task = 'kind: image, foreach: [signed, plain], with: { prompt: "{{row}}" }';
    writeFileSync(file, `version: 1\nname: signed\ntasks:\n  pic: { ${task} }\n`);
    const made = { signed: await png(true), plain: await png(false) };
    await buyEverything(file, ({ key = '' }) => ({ path: `${key}.png`, bytes: made[key as keyof typeof made] }));
    const { campaign, files, posts } = await findOutputs(await openCampaign(file), {});
    const view = { campaign, files, posts, folder: '' };
    const listed = JSON.parse(outputsList(view, 'json', 'file'));
    expect(listed).toMatchObject({ files: [{ contentCredentials: 'present' }, { key: 'plain' }] });
    expect(JSON.stringify(listed).match(/contentCredentials/g)).toHaveLength(1);
    expect(outputsTable(view)[1]).toContain('present');
    expect(readFileSync(join(folder, 'signed.png')).equals(made.signed)).toBe(true);
  });
});
