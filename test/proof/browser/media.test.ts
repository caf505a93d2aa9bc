import { cpSync, readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openChromium } from '../../rig/chromium.ts';
import { command, root } from '../../rig/command.ts';
import { makeFolder } from '../../rig/folder.ts';

const types: Record<string, string> = { '.png': 'image/png', '.mp3': 'audio/mpeg', '.html': 'text/html' };

/** The campaign's folder, on loopback. */
async function serveFolder(folder: string): Promise<string> {
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? '/');
    if (path === '/')
      return response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>media</title>');
    readFile(join(folder, path)).then(
      (bytes) => response.writeHead(200, { 'content-type': types[extname(path)] ?? 'text/plain' }).end(bytes),
      () => response.writeHead(404).end(),
    );
    return response;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('what the quickstart buys opens in a browser: every picture in its size, every song with its sound', async () => {
  const folder = makeFolder();
  for (const name of ['campaign.yaml', 'products.csv'])
    cpSync(join(root, 'examples/quickstart', name), join(folder, name));
  const { code, err } = await command(['apply', 'campaign.yaml', '--sandbox', '--yes'], { cwd: folder });
  expect(code, err).toBe(0);
  const outputs = join(folder, 'campaign.sandbox');
  const url = await serveFolder(outputs);
  const { browser, close } = await openChromium();
  onTestFinished(close);
  const page = await browser.newPage();
  await page.goto(url);

  const pictures = readdirSync(join(outputs, 'images'));
  expect(pictures).toHaveLength(13);
  for (const name of pictures) {
    const [width = 0, height = 1]: number[] = await page.evaluate(`(async () => {
      const image = new Image();
      image.src = '/images/${name}';
      await image.decode();
      return [image.naturalWidth, image.naturalHeight];
    })()`);
    expect(width / height).toBeCloseTo(name.endsWith('1-1.png') ? 1 : 9 / 16, 1);
    expect(width * height).toBeGreaterThan(900_000);
  }

  const songs = readdirSync(join(outputs, 'music'));
  expect(songs.sort()).toEqual(['spring.mp3', 'winter.mp3']);
  for (const name of songs) {
    const { seconds, loudest }: { seconds: number; loudest: number } = await page.evaluate(`(async () => {
      const bytes = await (await fetch('/music/${name}')).arrayBuffer();
      const sound = await new OfflineAudioContext(2, 44100, 44100).decodeAudioData(bytes);
      const samples = sound.getChannelData(0);
      let loudest = 0;
      for (const sample of samples) loudest = Math.max(loudest, Math.abs(sample));
      return { seconds: sound.duration, loudest };
    })()`);
    expect(seconds).toBeGreaterThan(8);
    expect(loudest).toBeGreaterThan(0.1);
  }
});
