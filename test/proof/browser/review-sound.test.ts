import { expect, test } from 'vitest';
import { chromiumOfFile } from '../../rig/chromium.ts';
import { asset, campaign as campaignOf, file } from '../../rig/review/campaign.ts';
import { openGallery } from '../../rig/review/gallery.ts';
import { openReview, openServed, serveCampaign } from '../../rig/review/open-page.ts';

const browser = await chromiumOfFile();
const campaign = await serveCampaign(`version: 1
name: songs
tasks:
  jingle: { kind: music, takes: 3, gate: { choose: 1 }, with: { model: song-8, prompt: "gentle acoustic pop", lyrics: "[Verse]\\nLight on the floor" } }
  logo: { kind: image, with: { prompt: a logo, resolution: 1k } }
`);

async function openMeasured() {
  const served = await openServed(browser, campaign);
  await served.press('Enter');
  await served.page.locator('.track .facts').getByText('LUFS').nth(2).waitFor();
  return served;
}
const clock = '.clock';

test('digits let another take go on at the same position, without a pause; P picks what is heard', async () => {
  const { page, press, isActive, data } = await openMeasured();
  const time = async () => Number(await page.getByRole('slider', { name: 'Time' }).inputValue());
  await press('1');
  await page.locator(clock).getByText('0:01 /').waitFor();
  for (const number of [3, 2]) {
    const before = await time();
    await press(String(number));
    await isActive(`jingle/${number}`);
    expect(await time()).toBeGreaterThanOrEqual(before - 0.05);
    await expect.poll(time).toBeGreaterThan(before);
  }
  expect((await data()).assets.some(({ verdict }) => verdict)).toBe(false);
  await press(' ');
  await page.getByRole('button', { name: 'Play Space' }).waitFor();
  await press('p');
  await expect
    .poll(async () => (await data()).assets.find(({ address }) => address === 'jingle/2')?.verdict?.is)
    .toBe('picked');
});

test('all are as loud as the quietest', async () => {
  const { page } = await openMeasured();
  const facts = await page.locator('.track .facts').allTextContents();
  const loudness = facts.map((text) => Number(/−(\d+\.\d) LUFS/.exec(text)?.[1]) * -1);
  const quieter = facts.map((text) => Number(/played (\d+\.\d) dB quieter/.exec(text)?.[1] ?? 0));
  const quietest = Math.min(...loudness);
  expect(quietest).toBeGreaterThan(-70);
  // Less than half a decibel is not said.
  for (const [index, own] of loudness.entries())
    expect(Math.abs(own - (quieter[index] ?? 0) - quietest)).toBeLessThan(0.66);
});

test('one seeks in the waveform, by the slider and by keys', async () => {
  const { page, press, isActive } = await openMeasured();
  const seconds = Number(await page.getByRole('slider', { name: 'Time' }).getAttribute('max'));
  expect(seconds).toBeGreaterThan(5);
  expect(await page.locator('.peaks path').first().getAttribute('d')).toMatch(/^(?:M\d+ [\d.]+V[\d.]+){600}$/);
  const wave = page.locator('.wave').nth(1);
  const width = (await wave.boundingBox())?.width ?? 0;
  await wave.click({ position: { x: width / 2, y: 20 } });
  await isActive('jingle/2');
  await press(' ');
  const time = async () => Number(await page.getByRole('slider', { name: 'Time' }).inputValue());
  await expect.poll(time).toBeGreaterThan(seconds / 2 - 0.3);
  expect(await time()).toBeLessThan(seconds / 2 + 3);
  await page.getByRole('slider', { name: 'Time' }).fill('1');
  await expect.poll(time).toBe(1);
  await press('.');
  await expect.poll(time).toBe(6);
  await press(',', ',');
  await expect.poll(time).toBe(0);
});

test('a tile lets its sound be heard, and leaving the group ends it', async () => {
  const { page, press, isActive } = await openServed(browser, campaign);
  await page.getByRole('button', { name: 'Listen jingle/3' }).click();
  await isActive('jingle/3');
  await page.getByRole('button', { name: 'Stop jingle/3' }).waitFor();
  await press('1');
  await page.getByRole('button', { name: 'Stop jingle/1' }).waitFor();
  await press(']');
  await isActive('logo');
  await press('[');
  await page.getByRole('button', { name: 'Listen jingle/1' }).waitFor();
});

test('tiles show the waveforms of sounds that nobody has listened to', async () => {
  const { page } = await openServed(browser, campaign);
  await expect.poll(() => page.locator('.tile svg.peaks path').count()).toBe(3);
  const path = await page.locator('.tile svg.peaks path').first().getAttribute('d');
  expect(path?.split('M').length).toBeGreaterThan(100);
});

test('on a narrow tile Listen and Pick stand clear of each other', async () => {
  const assets = [1, 2, 3].map((take) => asset(`song/${take}`, { kind: 'music', take, files: [file(take, 'audio')] }));
  const { page } = await openReview(browser, campaignOf([{ name: 'song', assets }]));
  await page.setViewportSize({ width: 390, height: 800 });
  const tile = page.locator('.tile.active');
  await tile.getByRole('button', { name: /^Listen/ }).click({ trial: true, timeout: 3000 });
  await tile.getByRole('button', { name: /^Pick/ }).click({ trial: true, timeout: 3000 });
});

test('a take that arrives can be listened to while another one plays on', async () => {
  const song = (take: number) => asset(`song/${take}`, { kind: 'music', take, files: [file(take, 'audio')] });
  const { page, host, press } = await openReview(browser, campaignOf([{ name: 'song', assets: [song(1)] }]));
  await press('Enter', '1');
  await page.locator(clock).getByText('0:01 /').waitFor();
  host.change((data) => ({
    ...campaignOf([{ name: 'song', assets: [song(1), song(2)] }], { revision: data.revision }),
  }));
  await page.getByRole('button', { name: 'Listen song/2 take 2' }).waitFor();
  const time = async () => Number(await page.getByRole('slider', { name: 'Time' }).inputValue());
  expect(await time()).toBeGreaterThan(0.9);
  await press('2');
  await page.locator('.active[data-address="song/2"]').waitFor();
  expect(await time()).toBeGreaterThan(0.9);
});

test('from disk, the same without waveforms that a script would have to read', async () => {
  const assets = [1, 2].map((take) => asset(`song/${take}`, { kind: 'music', take, files: [file(take, 'audio')] }));
  const { page, press, isActive } = await openGallery(browser, {
    ...campaignOf([{ name: 'song', assets }]),
    canDecide: false,
  });
  await press('Enter', '1');
  await page.locator(clock).getByText('0:01 /').waitFor();
  const time = async () => Number(await page.getByRole('slider', { name: 'Time' }).inputValue());
  const before = await time();
  await press('2');
  await isActive('song/2');
  const after = await time();
  expect(after).toBeGreaterThanOrEqual(before - 0.05);
  expect(after).toBeLessThan(before + 2);
  await page.locator(clock).getByText('0:02 /').waitFor();
});
