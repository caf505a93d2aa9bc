import { useLayoutEffect } from 'preact/hooks';
import type { ReviewAsset } from '../../contract/review.ts';
import { CompareArea, Pane } from '../compare/compare.tsx';
import { filmsOf } from '../compare/films.ts';
import { actOnCompareKey } from '../compare/keys.ts';
import { compareOf } from '../compare/state.ts';
import { RequestList } from '../details/details.tsx';
import { Address } from '../parts/tile.tsx';
import { credits, nameOf, problemOf } from '../parts/words.ts';
import type { Page, View } from '../state/page.ts';
import { hasChanged, type Version, versionsOf } from './versions.ts';

export const changesView: View = {
  name: 'changes',
  label: 'Before | after',
  key: 'a',
  isOffered: ({ assets }) => assets.some(({ report, earlier }) => report?.before !== undefined || earlier.length > 0),
  Component: Changes,
  move(page, direction) {
    const all = changedAssets(page);
    const here = all.findIndex(({ address }) => address === page.active.value);
    return all[here + (direction === 'up' || direction === 'left' ? -1 : 1)]?.address;
  },
  onKey: actOnCompareKey,
};

function changedAssets(page: Page): ReviewAsset[] {
  return page.strips.value.flatMap(({ assets }) => assets.filter(hasChanged));
}

function Changes({ page }: { page: Page }) {
  const compare = compareOf(page);
  const all = changedAssets(page);
  const asset = page.activeAsset.value;
  const here = all.findIndex(({ address }) => address === asset?.address);
  useLayoutEffect(() => {
    compare.version.value = 0;
    if (here < 0) page.activate(all[0]?.address);
  }, [page.active.value]);
  if (all.length === 0) return <p class="empty">No output that the filters show has an earlier version.</p>;
  if (asset === undefined || here < 0) return null;
  const versions = versionsOf(asset);
  const version = versions[compare.version.value] ?? versions[0];
  const choice = versions.length > 1 && (
    <select
      aria-label="Before"
      value={compare.version.value}
      onChange={({ currentTarget }) => {
        compare.version.value = Number(currentTarget.value);
      }}
    >
      {versions.map((one, index) => (
        <option key={index} value={index}>
          {nameOfVersion(page, one)}
        </option>
      ))}
    </select>
  );
  return (
    <CompareArea
      key={asset.address}
      page={page}
      head={
        <header class="head-line">
          <h2>
            <Address text={nameOf(page.shown.value, asset.address)} />
          </h2>
          <span class="quiet">{`${here + 1} of ${all.length} changed outputs`}</span>
        </header>
      }
      tools={choice}
      before={version && <Before page={page} version={version} />}
    >
      <section class="changed-words" aria-label="What changed">
        {version === undefined ? (
          <p>{`The step did not exist${referenceOf(page)}.`}</p>
        ) : (
          <Words page={page} asset={asset} version={version} />
        )}
      </section>
    </CompareArea>
  );
}

function Before({ page, version }: { page: Page; version: Version }) {
  const { file, earlier } = version;
  const name = nameOfVersion(page, version);
  return (
    <Pane
      panes={compareOf(page)}
      side="left"
      isPair
      label={name}
      name={name}
      file={file}
      why={file === undefined ? 'the output is no longer on this disk' : problemOf(file)}
      onVideo={(video) => filmsOf(page).set('left', video)}
    >
      <p class="facts">{`${name} · ${credits(earlier.credits ?? null)}`}</p>
    </Pane>
  );
}

function Words({ page, asset, version: { earlier } }: { page: Page; asset: ReviewAsset; version: Version }) {
  if (Object.keys(earlier.request).length === 0) return <p>The lock has no request of this version.</p>;
  if (earlier.changed.length === 0) return <p>The request is the same: the output was regenerated.</p>;
  return (
    <>
      <div>
        <h3>Before</h3>
        <RequestList page={page} request={earlier.request} others={[asset.request]} isBrief />
      </div>
      <div>
        <h3>Now</h3>
        <RequestList page={page} request={asset.request} others={[earlier.request]} isBrief />
      </div>
    </>
  );
}

function nameOfVersion(page: Page, { is, earlier }: Version): string {
  return is === 'reference' ? `Before${referenceOf(page)}` : `Before, job ${earlier.job ?? 'unknown'}`;
}

function referenceOf(page: Page): string {
  const compare = page.data.value.report?.compare;
  return compare === undefined ? '' : ` at ${compare.ref}`;
}
