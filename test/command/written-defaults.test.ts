import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { makeFolder } from '../rig/folder.ts';
import { terse } from '../rig/other-service/manners.ts';
import { OtherService } from '../rig/other-service/other-service.ts';
import { runInProcess } from './in-process.ts';

const manifest = (hero: object, bed: object) =>
  `version: 1\nname: test\ntasks:\n  hero: { kind: image, with: ${JSON.stringify({ prompt: 'x', ...hero })} }\n` +
  `  bed: { kind: music, with: ${JSON.stringify({ prompt: 'y', lyrics: 'z', ...bed })} }\n` +
  '  next: { kind: image, with: { prompt: w, referenceImages: ["{{tasks.hero.url}}"] } }\n';

async function open() {
  const service = await OtherService.open(terse);
  const path = makeFolder();
  onTestFinished(() => service.close());
  const run = (text: string, ...args: string[]) => {
    writeFileSync(join(path, 'campaign.yaml'), text);
    return runInProcess(args, service.env, path);
  };
  return {
    service,
    apply: (text: string) => run(text, 'apply', 'campaign.yaml', '--yes', '--poll-interval', '10'),
    plan: async (text: string) => (await run(text, 'plan', 'campaign.yaml')).out,
  };
}

const whole = { hero: { model: 'alpha-2' }, bed: { model: 'auto', output_format: 'mp3' } };

test.each<[string, object, object]>([
  ['all of them', whole.hero, whole.bed],
  ['one of them', {}, { output_format: 'mp3' }],
])('an explicit documented default is the same purchase with the same bytes: %s', async (_name, hero, bed) => {
  const { service, apply, plan } = await open();
  expect((await apply(manifest({}, {}))).code).toBe(0);
  const bodies = service.books.jobs.map(({ text }) => text);
  expect(await plan(manifest(hero, bed))).toContain('all 3 steps are up to date');
  expect((await apply(manifest(hero, bed))).code).toBe(0);
  expect(service.books.jobs).toHaveLength(3);
  const other = await open();
  expect((await other.apply(manifest(hero, bed))).code).toBe(0);
  const sent = other.service.books.jobs.map(({ text }) => text);
  expect(sent.filter((text) => !text.includes('reference')).sort()).toEqual(
    bodies.filter((text) => !text.includes('reference')).sort(),
  );
  expect((await other.apply(manifest({}, {}))).code).toBe(0);
  expect(other.service.books.jobs).toHaveLength(3);
});

test.each<[string, object, object]>([
  ['a default of most models', { resolution: '2k' }, {}],
  ['a default where it is supported', { aspectRatio: 'auto' }, {}],
  ['another name of the default', {}, { model: 'song-9' }],
  ['another model takes the value', { model: 'gamma-image-2', resolution: '1k' }, {}],
  ['an alias', { model: 'gamma-image-1.5' }, {}],
  ['another format', {}, { output_format: 'wav' }],
  ['a song of the same price', {}, { model: 'song-8' }],
])('a value that is not the default of every model is sent, and is another purchase: %s', async (_name, hero, bed) => {
  const { service, apply, plan } = await open();
  expect((await apply(manifest({}, {}))).code).toBe(0);
  expect(await plan(manifest(hero, bed))).toMatch(/to redo/);
  expect((await apply(manifest(hero, bed))).code).toBe(0);
  const bodies = service.books.jobs.map(({ text }) => JSON.parse(text));
  expect(bodies).toContainEqual(expect.objectContaining({ ...hero, ...bed }));
});
