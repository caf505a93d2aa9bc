import { signal } from '@preact/signals';
import { render } from 'preact';
import type { ReviewAsset } from '../../contract/review.ts';
import { markOf } from '../model/shown.ts';
import { whyNothing } from '../parts/media.tsx';
import { Badges, Caption } from '../parts/tile.tsx';
import { counted, mainFile } from '../parts/words.ts';
import type { Page } from '../state/page.ts';
import { aboutOf, sectionsOf, shownWords } from './about.ts';

export const printsPicked = signal(false);

/** Replaces the printed page with a sheet of all assets that match the filter. */
export function listenForPrint(page: Page): void {
  addEventListener('beforeprint', () => void fillSheet(page));
  addEventListener('afterprint', clearSheet);
  document.addEventListener('keydown', (event) => {
    if (event.key.toLowerCase() !== 'p' || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
    event.preventDefault();
    void printSheet(page);
  });
}

export async function printSheet(page: Page): Promise<void> {
  const sheet = fillSheet(page);
  const pictures = [...sheet.querySelectorAll('img')].filter(({ complete }) => !complete);
  if (pictures.length > 0) page.say(`Reading ${counted(pictures.length, 'picture')} to print…`);
  await Promise.all(
    pictures.map(
      (picture) =>
        new Promise<void>((resolve) => {
          picture.addEventListener('load', () => resolve());
          picture.addEventListener('error', () => resolve());
        }),
    ),
  );
  page.say('');
  print();
}

function fillSheet(page: Page): HTMLElement {
  let sheet = document.getElementById('sheet');
  if (sheet === null) {
    sheet = document.createElement('div');
    sheet.id = 'sheet';
    document.body.append(sheet);
  }
  render(<Sheet page={page} />, sheet);
  return sheet;
}

function clearSheet(): void {
  const sheet = document.getElementById('sheet');
  if (sheet === null) return;
  render(null, sheet);
  sheet.remove();
}

function Sheet({ page }: { page: Page }) {
  const isPrinted = (asset: ReviewAsset) => !printsPicked.value || markOf(asset) === 'picked';
  const sections = sectionsOf(page).flatMap(({ name, assets }) => {
    const printed = assets.filter(isPrinted);
    return printed.length === 0 ? [] : [{ name, assets: printed }];
  });
  const shown = sections.reduce((sum, { assets }) => sum + assets.length, 0);
  const all = page.data.value.assets.length;
  return (
    <>
      <h1>{page.data.value.campaign}</h1>
      <p>{[shownWords(page, shown, all), aboutOf(page)].join(' · ')}</p>
      {sections.map(({ name, assets }) => (
        <section key={name}>
          <h2>{name}</h2>
          <div class="printed">
            {assets.map((asset) => (
              <Printed key={asset.address} asset={asset} />
            ))}
          </div>
        </section>
      ))}
    </>
  );
}

function Printed({ asset }: { asset: ReviewAsset }) {
  const file = mainFile(asset);
  const nothing = whyNothing(asset);
  const source = file?.is === 'image' && nothing === undefined ? (file.thumb ?? file.url) : undefined;
  return (
    <figure class={markOf(asset)}>
      <span class="picture">
        {source === undefined ? <span class="words">{nothing ?? asset.kind}</span> : <img src={source} alt="" />}
        <Badges asset={asset} />
      </span>
      <figcaption>
        <Caption asset={asset} />
      </figcaption>
    </figure>
  );
}
