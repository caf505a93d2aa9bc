import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { ReviewAsset, ReviewFile } from '../../contract/review.ts';
import { clipOf, WipeLine } from '../compare/compare-pane.tsx';
import { CompareTools } from '../compare/compare-tools.tsx';
import { actOnPaneKey } from '../compare/keys.ts';
import { otherSide, type Side, zoomOf } from '../compare/pair.ts';
import { Panes } from '../compare/panes.ts';
import { RequestList } from '../details/request-list.tsx';
import { Face } from '../parts/face.tsx';
import { Nothing, Sound, whyNothing } from '../parts/media.tsx';
import { Address, Badges, Caption } from '../parts/tile.tsx';
import { useFocus } from '../parts/use-focus.ts';
import { credits, mainFile, problemOf } from '../parts/words.ts';
import type { LateView, Page } from '../state/page.ts';
import { ZoomedMedia } from '../zoom/zoomed-media.tsx';
import { hasChanged, type Version, versionsOf } from './versions.ts';

/** View that compares each asset with an earlier version. */
export const changesView: LateView = {
  name: 'changes',
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
  const mode = panes.mode.value;
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
      <div class={`panes ${mode}${isPair ? '' : ' alone'}`}>
        {isPair && (
          <Pane page={page} side="left" name={nameOf(page, version)} file={version.file} why={whyGone(version)}>
            <p class="facts">{[nameOf(page, version), factsOf(version)].filter(Boolean).join(' · ')}</p>
          </Pane>
        )}
        <Pane page={page} side={isPair ? 'right' : 'left'} name="Now" file={mainFile(asset)} why={whyNothing(asset)}>
          <Face page={page} address={asset.address}>
            <Caption asset={asset} />
            <Badges asset={asset} />
          </Face>
        </Pane>
        {mode === 'wipe' && isPair && <WipeLine panes={panes} />}
        {mode === 'difference' && isPair && <div class="brighter" aria-hidden="true" />}
      </div>
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

interface PaneProps {
  page: Page;
  side: Side;
  name: string;
  file: ReviewFile | undefined;
  why: string | undefined;
  children: ComponentChildren;
}

function Pane({ page, side, name, file, why, children }: PaneProps) {
  const panes = beforeAfterOf(page);
  const isActive = panes.activeSide() === side;
  return (
    <section
      class={`box pane ${side}${isActive ? ' active' : ''}`}
      aria-label={name}
      onPointerDown={() => panes.activate(side)}
      onFocusIn={() => panes.activate(side)}
    >
      <div class="pane-picture" style={clipOf(panes, side, true)}>
        {file === undefined || why !== undefined ? (
          <Nothing text={why ?? ''} />
        ) : file.is === 'audio' ? (
          <Sound file={file} name={`Play ${name}`} />
        ) : (
          <ZoomedMedia
            file={file}
            name={name}
            zoom={zoomOf(panes.pair.value, side, panes.frames.value[side])}
            onMove={(move) => panes.move(side, move)}
            onFrame={(frame) => panes.frame(side, frame)}
            onTogglePixels={(at) => panes.togglePixels(side, at)}
          />
        )}
      </div>
      <div class="pane-foot">{children}</div>
    </section>
  );
}

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
