import type { ReviewAsset } from '../../contract/review.ts';
import { Command, Earlier } from '../details/details.tsx';
import { leadTo, StepButton } from '../details/steps.tsx';
import { shellWord } from '../model/leave.ts';
import { Isolated } from '../parts/isolated.tsx';
import { Picture } from '../parts/tile.tsx';
import { credits } from '../parts/words.ts';
import type { Page } from '../state/page.ts';
import { galleryOf } from './state.ts';

/** Maximum number of assets that are shown as pictures; further ones are listed by name. */
const mostPictures = 24;

/** Shows the inputs and users of an asset as pictures, its state at the reference, and commands for it. */
export function Surroundings({ page, asset }: { page: Page; asset: ReviewAsset }) {
  const { before, request, madeFrom, usedBy, estimated, origins = {} } = asset;
  const { compare } = galleryOf(page).report;
  return (
    <>
      {Object.keys(origins).length > 0 && <h3>Where it comes from</h3>}
      <dl class="origins">
        {Object.entries(origins).map(([field, origin]) => (
          <div key={field}>
            <dt>{field}</dt>
            <dd>{origin}</dd>
          </div>
        ))}
      </dl>
      {estimated !== undefined && <p>{`Expected to cost ${credits(estimated)}.`}</p>}
      <Pictures page={page} title="Made from" addresses={madeFrom} />
      <Pictures page={page} title="Used by" addresses={usedBy} />
      {before !== undefined && <h3>{`Before${compare === undefined ? '' : `, at ${compare.ref}`}`}</h3>}
      {before === null && <p>It was not there.</p>}
      {before != null && <Earlier page={page} earlier={before} request={request} />}
      <Commands page={page} asset={asset} />
    </>
  );
}

function Commands({ page, asset: { address, files } }: { page: Page; asset: ReviewAsset }) {
  const { file, commands } = page.data.value;
  const command = (name: 'explain' | 'redo', plain: string) =>
    `${commands?.[name] ?? `mediabatch ${plain}`} ${shellWord(address)}`;
  const there = files.flatMap(({ url, path }) => (url === undefined ? [] : [{ url, path }]));
  return (
    <>
      <h3>Commands</h3>
      <Command page={page} command={command('explain', `explain ${shellWord(file)}`)} />
      <Command page={page} command={command('redo', `apply ${shellWord(file)} --redo`)} />
      {there.map(({ url, path }) => (
        <p key={path}>
          <a href={url} target="_blank" rel="noreferrer">
            {`Open ${path} here`}
          </a>
        </p>
      ))}
    </>
  );
}

function Pictures({ page, title, addresses }: { page: Page; title: string; addresses: readonly string[] }) {
  if (addresses.length === 0) return null;
  const { assets } = page.shown.value;
  return (
    <>
      <h3>{title}</h3>
      <ul class="steps">
        {addresses.map((address, index) => {
          const asset = index < mostPictures ? assets.get(address) : undefined;
          return (
            <li key={address}>
              {asset === undefined ? (
                <StepButton page={page} address={address} />
              ) : (
                <button type="button" class="step" onClick={() => leadTo(page, address)}>
                  <Picture asset={asset} />
                  <Isolated text={address} />
                </button>
              )}
            </li>
          );
        })}
      </ul>
    </>
  );
}
