import { signal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { ReviewAsset } from '../../contract/review.ts';
import { Pane, PaneArea } from '../compare/compare-pane.tsx';
import { CompareTools } from '../compare/compare-tools.tsx';
import { actOnPaneKey } from '../compare/keys.ts';
import { otherSide, type Side } from '../compare/pair.ts';
import { Panes } from '../compare/panes.ts';
import { RequestList } from '../details/request-list.tsx';
import { Face } from '../parts/face.tsx';
import { whyNothing } from '../parts/media.tsx';
import { Address, Badges, Caption } from '../parts/tile.tsx';
import { useFocus } from '../parts/use-focus.ts';
import { credits, mainFile, problemOf } from '../parts/words.ts';
import type { Page, View } from '../state/page.ts';
import { hasChanged, type Version, versionsOf } from './versions.ts';

/** View that compares each asset with an earlier version. */
export const changesView: View = {
  name: 'changes',
  label: 'Before | after',
  key: 'a',
  isOffered: ({ assets }) => assets.some(({ before, earlier }) => before !== undefined || earlier.length > 0),
  Component: Changes,
  move(page, direction) {
    const all = changedAssets(page);
    const here = all.findIndex(({ address }) => address === page.active.value);
    return all[here + (direction === 'up' || direction === 'left' ? -1 : 1)]?.address;
  },
  onKey: (page, press) => actOnPaneKey(beforeAfterOf(page), press),
};

function changedAssets(page: Page): ReviewAsset[] {
  return page.strips.value.flatMap(({ assets }) => assets.filter(hasChanged));
}

function Changes({ page }: { page: Page }) {
  const within = useRef<HTMLDivElement>(null);
  const panes = beforeAfterOf(page);
  const all = changedAssets(page);
  const asset = page.activeAsset.value;
  const here = all.findIndex(({ address }) => address === asset?.address);
  useLayoutEffect(() => {
    panes.version.value = 0;
    if (here < 0) page.activate(all[0]?.address);
  }, [page.active.value]);
  useLayoutEffect(() => () => panes.close(), []);
  useFocus(page, within);
  const step = (by: 1 | -1) => page.activate(all[here + by]?.address);
  if (all.length === 0) return <p class="empty">Nothing that is shown was anything else before.</p>;
  if (asset === undefined || here < 0) return null;
  return (
    <div class="compare" ref={within}>
      <header class="head-line">
        <h2>
          <Address text={asset.address} />
        </h2>
        <span class="quiet">{`${here + 1} of ${all.length} that changed`}</span>
        <button type="button" disabled={here === 0} onClick={() => step(-1)}>
          Back
        </button>
        <button type="button" disabled={here === all.length - 1} onClick={() => step(1)}>
          Next
        </button>
      </header>
      <Both key={asset.address} page={page} asset={asset} />
    </div>
  );
}

function Both({ page, asset }: { page: Page; asset: ReviewAsset }) {
  const panes = beforeAfterOf(page);
  const versions = versionsOf(asset);
  const version = versions[panes.version.value] ?? versions[0];
  const isPair = version !== undefined;
  return (
    <>
      <CompareTools panes={panes} isPair={isPair}>
        {versions.length > 1 && (
          <select
            aria-label="Before"
            value={panes.version.value}
            onChange={({ currentTarget }) => {
              panes.version.value = Number(currentTarget.value);
            }}
          >
            {versions.map((one, index) => (
              <option key={index} value={index}>
                {nameOf(page, one)}
              </option>
            ))}
          </select>
        )}
      </CompareTools>
      <PaneArea panes={panes} isPair={isPair}>
        {isPair && (
          <Pane
            {...{ panes, isPair }}
            side="left"
            {...named(nameOf(page, version))}
            file={version.file}
            why={whyGone(version)}
          >
            <p class="facts">{[nameOf(page, version), factsOf(version)].filter(Boolean).join(' · ')}</p>
          </Pane>
        )}
        <Pane
          {...{ panes, isPair }}
          side={isPair ? 'right' : 'left'}
          {...named('Now')}
          file={mainFile(asset)}
          why={whyNothing(asset)}
        >
          <Face page={page} address={asset.address}>
            <Caption asset={asset} />
            <Badges asset={asset} />
          </Face>
        </Pane>
      </PaneArea>
      <section class="changed-words" aria-label="What changed">
        {isPair ? (
          <Words page={page} asset={asset} version={version} />
        ) : (
          <p>{`It was not there${referenceOf(page)}: it is new.`}</p>
        )}
      </section>
    </>
  );
}

const named = (name: string) => ({ label: name, name });

/** Shows the words in which the two requests differ. */
function Words({ page, asset, version: { earlier } }: { page: Page; asset: ReviewAsset; version: Version }) {
  if (Object.keys(earlier.request).length === 0) {
    return <p>The lock no longer has its request.</p>;
  }
  if (earlier.changed.length === 0) return <p>The same request: it was regenerated.</p>;
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

function nameOf(page: Page, { is, earlier }: Version): string {
  return is === 'reference' ? `Before${referenceOf(page)}` : `Before, job ${earlier.job ?? 'not known'}`;
}

function referenceOf(page: Page): string {
  const compare = page.data.value.report?.compare;
  return compare === undefined ? '' : ` at ${compare.ref}`;
}

function factsOf({ earlier }: Version): string {
  return earlier.credits === undefined ? '' : credits(earlier.credits);
}

function whyGone({ file }: Version): string | undefined {
  return file === undefined ? 'its output is no longer on this disk' : problemOf(file);
}

/** Panes for an earlier version of an asset on the left, and the current one on the right. */
class BeforeAfter extends Panes {
  readonly #side = signal<Side>('right');
  readonly version = signal(0);

  activeSide(): Side {
    return this.#side.value;
  }

  activate(side: Side): void {
    this.#side.value = side;
  }

  other(): void {
    this.activate(otherSide(this.activeSide()));
    this.say(this.activeSide() === 'left' ? 'Before.' : 'Now.');
  }
}

const states = new WeakMap<Page, BeforeAfter>();

function beforeAfterOf(page: Page): BeforeAfter {
  const state = states.get(page) ?? new BeforeAfter((text) => page.say(text));
  states.set(page, state);
  return state;
}
