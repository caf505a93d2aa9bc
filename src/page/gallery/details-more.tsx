import type { ReviewAsset } from '../../contract/review.ts';
import { Command } from '../details/details.tsx';
import { Earlier } from '../details/earlier.tsx';
import { leadTo } from '../details/steps.tsx';
import { shellWord } from '../model/leave.ts';
import { Picture } from '../parts/tile.tsx';
import type { Page } from '../state/page.ts';
import { galleryOf } from './state.ts';

/** More of these are named in the list of the details only. */
const mostPictures = 24;

/** Commands about an asset, what it is made from and what is made from it as pictures, and what it was at the reference. */
export function DetailsMore({ page, asset }: { page: Page; asset: ReviewAsset }) {
  const { address, before, request, files, madeFrom, usedBy } = asset;
  const { file, commands } = page.data.value;
  const { compare } = galleryOf(page).report;
  const command = (name: 'explain' | 'redo' | 'open', plain: string) =>
    `${commands?.[name] ?? `mediabatch ${plain}`} ${shellWord(address)}`;
  const there = files.flatMap(({ url, path }) => (url === undefined ? [] : [{ url, path }]));
  return (
    <>
      <Command page={page} command={command('explain', `explain ${shellWord(file)}`)} />
      <Command page={page} command={command('redo', `apply ${shellWord(file)} --redo`)} />
      {there.length > 0 && <Command page={page} command={command('open', `open ${shellWord(file)}`)} />}
      {there.map(({ url, path }) => (
        <p key={path}>
          <a href={url} target="_blank" rel="noreferrer">
            {`Open ${path}`}
          </a>
        </p>
      ))}
      <Pictures page={page} title="Made from" addresses={madeFrom} />
      <Pictures page={page} title="What was made from it" addresses={usedBy} />
      {before !== undefined && <h3>{`Before${compare === undefined ? '' : `, at ${compare.ref}`}`}</h3>}
      {before === null && <p>It was not there.</p>}
      {before != null && <Earlier page={page} earlier={before} request={request} />}
    </>
  );
}

function Pictures({ page, title, addresses }: { page: Page; title: string; addresses: readonly string[] }) {
  const assets = addresses.slice(0, mostPictures).flatMap((address) => page.shown.value.assets.get(address) ?? []);
  if (assets.length === 0) return null;
  return (
    <>
      <h3>{title}</h3>
      <ul class="steps">
        {assets.map((asset) => (
          <li key={asset.address}>
            <button type="button" class="step" onClick={() => leadTo(page, asset.address)}>
              <Picture asset={asset} />
              {asset.address}
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}
