import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, BrowserContext } from 'playwright-core';
import type { ReportParts } from '../../../src/contract/report.ts';
import type { ReviewAsset, ReviewData, ReviewGroup } from '../../../src/contract/review.ts';
import { root } from '../command.ts';
import { makeFolder } from '../folder.ts';
import { asset, file } from './campaign.ts';
import { openQuietPage, type QuietPage } from './open-page.ts';
import { drawPng, silentWav } from './png.ts';

/** When the run of every gallery here began. */
const started = Date.UTC(2026, 10, 20, 9, 0, 0);

const tasks = [
  { task: 'draft', kind: 'image', takes: 4 },
  { task: 'hero', kind: 'image', styles: ['warm', 'cold', 'night'] },
  { task: 'voice', kind: 'speech' },
  { task: 'clip', kind: 'video' },
] as const;

/** A campaign of about `count` assets (nine for each key) with everything that a gallery can show. */
export function galleryData(count: number): ReviewData {
  const assets: ReviewAsset[] = [];
  const groups: ReviewGroup[] = [];
  for (let key = 0; assets.length < count; key += 1) {
    const name = `p${String(key + 1).padStart(4, '0')}`;
    for (const one of tasks) {
      const own = assetsOf(one, name, key, assets.length);
      const group = `${one.task}@${name}`;
      const members = own.map((_, index) => assets.length + index);
      assets.push(...own);
      groups.push({
        ...{ name: group, task: one.task, key: name, members },
        differBy: 'takes' in one ? ['take'] : 'styles' in one ? ['style'] : [],
        ...('takes' in one && {
          gate: {
            is: 'choose',
            choose: 1,
            state: own.some(({ verdict }) => verdict) ? 'decided' : 'open',
            waiting: 3,
            waitingCredits: 18,
          },
        }),
      });
    }
  }
  const byTask = tasks.flatMap(({ task }) => groups.filter((group) => group.task === task));
  return {
    ...{ version: 2, revision: 1, campaign: 'aurora-launch', file: 'campaign.yaml', canDecide: false },
    ...{ groups: byTask, assets, report },
  };
}

function assetsOf(one: (typeof tasks)[number], key: string, index: number, first: number): ReviewAsset[] {
  const { task, kind } = one;
  const name = `${task}@${key}`;
  const shared = {
    task,
    kind,
    key,
    row: `row ${index + 2} of products.csv`,
    tags: index % 3 === 0 ? ['launch', 'web'] : ['web'],
  };
  const origins = { prompt: `campaign.yaml:14, name of products.csv:${index + 2}`, model: 'campaign.yaml:6' };
  if ('takes' in one) {
    return Array.from({ length: one.takes }, (_, take) =>
      asset(`${name},take:${take + 1}`, {
        ...{
          ...shared,
          take: take + 1,
          files: [file(first + take)],
          report: { origins, estimated: 2 },
          usedBy: [`hero@${key},warm`],
        },
        request: { model: 'alpha-2', prompt: `Product ${index + 1} on oak, soft morning light`, seed: take },
        differs: ['seed'],
        ...(index % 2 === 0 &&
          take < 2 && { verdict: take === 1 ? { is: 'picked' as const, note: 'calm' } : { is: 'rejected' as const } }),
      }),
    );
  }
  if ('styles' in one) {
    return one.styles.map((style, place) => {
      const at = first + place;
      const request = {
        model: 'alpha-pro',
        prompt: `The same picture, finished, ${style}, on elm with a brass lamp beside it`,
        referenceImages: [{ $ref: `draft@${key},take:2`, field: 'url' }],
      };
      const earlier = {
        ...{ job: `old-${at}`, credits: 6, changed: ['prompt'], files: [file(at + 7, 'image')] },
        request: { ...request, prompt: `The same picture, finished, ${style}, on oak` },
      };
      return asset(`${name},${style}`, {
        ...{
          ...shared,
          matrix: { style },
          files: [file(at)],
          request,
          credits: 6,
          isJudged: false,
        },
        ...{ differs: ['prompt'], madeFrom: [`draft@${key},take:2`], usedBy: place === 0 ? [`clip@${key}`] : [] },
        ...(index % 4 === 1 && { earlier: [earlier] }),
        report: {
          ...{ origins, estimated: 5 },
          ...(index % 4 === 2 && { before: earlier }),
          ...(index % 4 === 3 && { before: null }),
        },
        ...stateOf(index * 3 + place, at),
      });
    });
  }
  const is = kind === 'video' ? 'video' : 'audio';
  return [
    asset(name, {
      ...{
        ...shared,
        isJudged: false,
        files: [file(first, is)],
        credits: 1,
        request: { text: `Welcome, product ${index + 1}` },
      },
      ...(task === 'clip' && { madeFrom: [`hero@${key},warm`], ...stateOf(index, first) }),
    }),
  ];
}

/** Some that have nothing to show, for each reason. */
function stateOf(number: number, at: number): Partial<ReviewAsset> {
  const { url: _, thumb: __, ...lost } = file(at);
  switch (number % 23) {
    case 3:
      return { files: [], credits: 0, state: 'failed', error: 'timed out at the service' };
    case 8:
      return { files: [], credits: 0, state: 'planned' };
    case 12:
      return { files: [{ ...lost, problem: 'missing' }] };
    case 17:
      return { files: [{ ...lost, problem: 'damaged' }] };
    case 20:
      return { state: 'changed' };
    default:
      return {};
  }
}

const report: ReportParts = {
  made: started + 3_600_000,
  compare: { ref: 'main', commit: '3b04d52f00aa11bb22cc33dd44ee55ff66778899' },
};

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self'; base-uri 'none'; form-action 'none'";

/** Writes a gallery as a folder for a browser on this disk, and returns the URL of its page. Pictures repeat after 64. */
function writeGallery(folder: string, data: ReviewData): string {
  for (const name of ['gallery.js', 'gallery.css', 'icon.svg'])
    cpSync(join(root, 'dist/page', name), join(folder, name));
  for (const kind of ['media', 'thumb']) {
    mkdirSync(join(folder, kind));
    for (let number = 0; number < 64; number += 1) {
      const size = kind === 'thumb' ? 192 : 512;
      writeFileSync(join(folder, kind, `${number}.png`), drawPng(size, size * 0.75, (number * 37) % 256));
    }
  }
  writeFileSync(join(folder, 'media', 'sound.wav'), silentWav(3));
  const json = JSON.stringify(data)
    .replaceAll('<', '\\u003c')
    .replace(/"(media|thumb)\/(\d+)"/g, (_, kind, number) => `"${kind}/${Number(number) % 64}.png"`)
    .replace(/("is":"(?:audio|video)"[^}]*?"url":")media\/\d+\.png"/g, '$1media/sound.wav"');
  const path = join(folder, 'index.html');
  writeFileSync(
    path,
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<title>gallery</title><link rel="icon" href="icon.svg"><link rel="stylesheet" href="gallery.css"></head><body><div id="app"></div>
<script type="application/json" id="data">${json}</script><script src="gallery.js"></script></body></html>`,
  );
  return pathToFileURL(path).href;
}

export interface OpenGallery extends QuietPage {
  folder: string;
  /** Opens the page again with this after `#`, as a link that was sent to somebody does. */
  follow(hash: string): Promise<void>;
}

/** Opens a gallery as a folder on this disk. */
export async function openGallery(
  browser: Browser | BrowserContext,
  data: ReviewData,
  hash = '',
): Promise<OpenGallery> {
  const folder = makeFolder();
  const url = writeGallery(folder, data);
  const quiet = await openQuietPage(browser, pathToFileURL(folder).href);
  const follow = async (to: string) => {
    await quiet.page.goto('about:blank');
    await quiet.page.goto(`${url}${to}`);
    await quiet.page.locator('main').waitFor();
  };
  await follow(hash);
  return { ...quiet, folder, follow };
}
