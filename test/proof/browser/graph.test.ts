import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import type { Diagram, WorkNode } from '../../../src/report/diagram/diagram.ts';
import { diagramSvg } from '../../../src/report/diagram/diagram-svg.ts';
import { openChromium } from '../../rig/chromium.ts';
import { temporaryFolder } from '../../rig/command.ts';

const { browser, close: closeBrowser } = await openChromium();
afterAll(closeBrowser);

const none = { done: 0, running: 0, failed: 0, lost: 0, unresolved: 0, changed: 0, 'not-bought': 0, unneeded: 0 };

function task(id: string, more: Partial<WorkNode> = {}): WorkNode {
  const credits = { spent: 12_345, held: 0, toSpend: 6789, expected: 1, waiting: 0, unpriced: 12 };
  const states = { ...none, done: 4, running: 2, failed: 1, 'not-bought': 5 };
  return { is: 'task', id, task: id, kind: 'image', steps: 12, states, credits, description: id, ...more };
}

/** Names as wide as they get, in several scripts, and what would run if it could. */
const names = [
  'WWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW',
  '</text><script>document.title = "broken"</script>',
  '&"\'><image href="https://a.example/x.png" onerror="document.title=1"/>',
  '製品の写真をすべて並べた大きな絵を作るための長い名前のタスク',
  'картинка с очень длинным названием для проверки',
  '🎨🎬🎧🎨🎬🎧🎨🎬🎧🎨🎬🎧🎨🎬🎧🎨🎬🎧',
  'end',
  'voice',
];

const diagram: Diagram = {
  campaign: names[1] ?? '',
  by: 'task',
  nodes: [
    ...names.map((name, index) =>
      task(name, index === 3 ? { fanOut: 'open' } : { canary: { rule: 'ask', state: 'open' } }),
    ),
    {
      ...{ is: 'gate', id: `gate:${names[0]}`, task: names[0] ?? '', asks: 'choose', choose: 1 },
      states: { decided: 1, open: 2, contested: 0, rejected: 0 },
    },
  ],
  edges: names
    .slice(1)
    .flatMap((name, index) => [
      { from: names[index] ?? '', to: name, links: [{ is: 'one', by: ['key', 'MMMMMMMM'] }] },
      ...(index > 0 && index % 2 === 0
        ? [{ from: names[0] ?? '', to: name, links: [{ is: 'needs' as const, by: [] }] }]
        : []),
    ]),
};

interface Seen {
  text: string;
  left: number;
  right: number;
  top: number;
  bottom: number;
}

interface Found {
  root: string;
  errors: number;
  scripts: number;
  title: string;
  background: string;
  ink: string;
  texts: Seen[];
  picture: Seen;
  /** Texts that leave their box. */
  strays: string[];
}

/** Runs in the page; the types of the browser are not loaded for tests. */
const look = `(() => {
  const boxOf = (element) => {
    const { left, right, top, bottom } = element.getBoundingClientRect();
    return { text: element.textContent, left, right, top, bottom };
  };
  const color = (selector) => getComputedStyle(document.querySelector(selector)).fill;
  const strays = [...document.querySelectorAll('g')].flatMap((group) => {
    const card = group.querySelector('.card, .gate');
    const texts = [...group.querySelectorAll(':scope > text')];
    if (card === null) return [];
    const around = card.getBoundingClientRect();
    return texts.map(boxOf).filter(({ left, right }) => left < around.left || right > around.right);
  });
  return {
    root: document.documentElement.nodeName,
    errors: document.querySelectorAll('parsererror').length,
    scripts: document.querySelectorAll('script, image, a, foreignObject').length,
    title: document.querySelector('title').textContent,
    background: color('rect.page'),
    ink: color('text.name'),
    texts: [...document.querySelectorAll('text')].map(boxOf),
    picture: boxOf(document.documentElement),
    strays: strays.map(({ text }) => text),
  };
})()`;

test.each(['light', 'dark'] as const)(
  'a graph is a picture in which no texts overlap, on a %s page',
  async (colorScheme) => {
    const folder = temporaryFolder();
    onTestFinished(folder.remove);
    const path = join(folder.path, 'graph.svg');
    writeFileSync(path, diagramSvg(diagram) ?? '');
    const page = await browser.newPage();
    onTestFinished(() => page.close());
    const complaints: string[] = [];
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('request', (request) => {
      if (!request.url().startsWith('file:')) complaints.push(request.url());
    });
    await page.emulateMedia({ colorScheme });
    await page.goto(pathToFileURL(path).href);
    const { root, errors, scripts, title, background, ink, texts, picture, strays }: Found = await page.evaluate(look);
    expect({ root, errors, scripts, complaints }).toEqual({ root: 'svg', errors: 0, scripts: 0, complaints: [] });
    expect(title).toContain('<script>');
    expect({ background, ink }).toEqual(
      colorScheme === 'dark'
        ? { background: 'rgb(13, 17, 23)', ink: 'rgb(230, 237, 243)' }
        : { background: 'rgb(255, 255, 255)', ink: 'rgb(27, 33, 40)' },
    );
    const overlap = (a: Seen, b: Seen) =>
      a.left < b.right && b.left < a.right && a.top + 2 < b.bottom && b.top + 2 < a.bottom;
    const found = texts.flatMap((one, index) =>
      texts.slice(index + 1).flatMap((other) => (overlap(one, other) ? [`${one.text} over ${other.text}`] : [])),
    );
    expect(found).toEqual([]);
    expect(texts.filter(({ right, bottom }) => right > picture.right || bottom > picture.bottom)).toEqual([]);
    expect(strays, 'texts that leave their box').toEqual([]);
  },
);
