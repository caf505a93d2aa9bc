import { Fragment } from 'preact';
import type { ReviewAsset } from '../../contract/review.ts';
import { markOf } from '../model/shown.ts';
import { ListenButton } from '../sound/listen-button.tsx';
import type { Page } from '../state/page.ts';
import { AssetBox } from './asset-box.tsx';
import { Face } from './face.tsx';
import { Film, mainFile, Nothing, Thumb, whyNothing } from './media.tsx';
import { credits, stateWords } from './words.ts';

interface TileProps {
  page: Page;
  asset: ReviewAsset;
  /** Its key among 1–9; absent: it has none. */
  digit?: number | undefined;
  /** Its picture is asked for before those of others. */
  isFirst: boolean;
}

/** One asset in a strip. Pressing it makes it the active one; pressing the active one opens the loupe. */
export function Tile({ page, asset, digit, isFirst }: TileProps) {
  return (
    <AssetBox page={page} asset={asset} place="tile">
      <Face page={page} address={asset.address}>
        <Picture asset={asset} isFirst={isFirst} />
        <Caption asset={asset} digit={digit} />
      </Face>
      <Player page={page} asset={asset} />
      {asset.isJudged && <VerdictButtons page={page} asset={asset} />}
    </AssetBox>
  );
}

/** Address, verdict, credits and state. */
export function Caption({ asset, digit }: { asset: ReviewAsset; digit?: number | undefined }) {
  const mark = markOf(asset);
  return (
    <>
      <span class="caption">
        {digit !== undefined && <span class="digit">{digit}</span>}
        <span class="name">
          <Address text={asset.address} />
        </span>
      </span>
      <span class="facts">
        {mark !== 'undecided' && <span class="mark">{mark}</span>} {factsOf(asset)}
      </span>
    </>
  );
}

/** An address, which may be broken after its parts. */
function Address({ text }: { text: string }) {
  return (
    <>
      {text.split(/(?<=[@,/])/).map((part, index) => (
        <Fragment key={index}>
          {index > 0 && <wbr />}
          {part}
        </Fragment>
      ))}
    </>
  );
}

interface PictureProps {
  asset: ReviewAsset;
  /** It is asked for before others: a small picture that is not made yet takes a moment. */
  isFirst?: boolean | undefined;
}

/** Small picture of an asset, or why there is none. */
export function Picture({ asset, isFirst }: PictureProps) {
  return (
    <span class="picture">
      <Small asset={asset} isFirst={isFirst} />
    </span>
  );
}

function Small({ asset, isFirst }: PictureProps) {
  const file = mainFile(asset);
  const nothing = whyNothing(asset);
  if (nothing !== undefined || file === undefined) return <Nothing text={nothing ?? ''} />;
  if (file.is === 'image') return <Thumb key={file.sha256} file={file} isFirst={isFirst} />;
  if (file.is === 'video') return <Film file={file} name={asset.address} isPlayer={false} />;
  return <Nothing text={file.is === 'audio' ? asset.kind : file.path} />;
}

function Player({ page, asset }: { page: Page; asset: ReviewAsset }) {
  if (mainFile(asset)?.is !== 'audio' || whyNothing(asset) !== undefined) return null;
  return <ListenButton page={page} asset={asset} />;
}

/** `2 credits`, and its state unless it is simply there. */
function factsOf(asset: ReviewAsset): string {
  const words = asset.files.length > 0 ? stateWords(asset) : '';
  const price = asset.credits === undefined ? '' : credits(asset.credits);
  return [price, words, asset.verdict?.note ?? ''].filter((part) => part !== '').join(' · ');
}

/** Pick and reject; pressed, they take the verdict back. */
export function VerdictButtons({ page, asset }: { page: Page; asset: ReviewAsset }) {
  const mark = markOf(asset);
  const button = (is: 'picked' | 'rejected', label: string) => (
    <button
      type="button"
      class={`verdict ${is}`}
      aria-pressed={mark === is}
      tabIndex={page.active.value === asset.address ? 0 : -1}
      onClick={() => page.judge(asset.address, mark === is ? 'undecided' : is)}
    >
      {label}
      <span class="away"> {asset.address}</span>
    </button>
  );
  return (
    <div class="verdicts">
      {button('picked', 'Pick')}
      {button('rejected', 'Reject')}
    </div>
  );
}
