import type { ReviewAsset } from '../../contract/review.ts';
import { digitOf, markOf, type ShownGroup } from '../model/shown.ts';
import { KnownWave } from '../sound/known-wave.tsx';
import { soundsOf } from '../sound/state.ts';
import type { Page } from '../state/page.ts';
import { remarkOn } from '../state/remarks.ts';
import { AssetBox } from './asset-box.tsx';
import { Face } from './face.tsx';
import { Isolated } from './isolated.tsx';
import { Film, Nothing, Thumb, whyNothing } from './media.tsx';
import { isSound } from './shapes.ts';
import { credits, endOf, mainFile, nameIn, stateWords } from './words.ts';

interface TileProps {
  page: Page;
  asset: ReviewAsset;
  group: ShownGroup;
  /** CSS pixels of its picture. */
  size: { width: number; height: number };
  /** CSS pixels of the tile. */
  width: number;
  /** Its picture is asked for before those of others. */
  isFirst: boolean;
}

/** One asset in a strip. Pressing it makes it the active one; pressing the active one opens the loupe. */
export function Tile({ page, asset, group, size, width, isFirst }: TileProps) {
  const isAsked = group.group.gate !== undefined || isSound(asset);
  return (
    <AssetBox page={page} asset={asset} place="tile" width={width}>
      <Face page={page} address={asset.address}>
        <Picture asset={asset} digit={isAsked ? digitOf(group, asset) : undefined} size={size} isFirst={isFirst} />
        <Caption asset={asset} group={group} />
      </Face>
      <Player page={page} asset={asset} />
      {asset.isJudged && <VerdictButtons page={page} asset={asset} />}
    </AssetBox>
  );
}

interface CaptionProps {
  asset: ReviewAsset;
  /** Where it is seen among the others of its group, whose name stands above: what sets it apart is enough. */
  group?: ShownGroup;
}

/** The name of an asset, and what there is to say of it, on one line. */
export function Caption({ asset, group }: CaptionProps) {
  const { address } = asset;
  return (
    <span class="caption">
      <span class="name">
        {group === undefined ? (
          <Address text={address} />
        ) : (
          <>
            <span class="away">{address} </span>
            <bdi>{nameIn(group, asset)}</bdi>
          </>
        )}
      </span>
      <span class="facts">{factsOf(asset, group)}</span>
    </span>
  );
}

export function Badges({ asset, digit }: { asset: ReviewAsset; digit?: number | undefined }) {
  const mark = markOf(asset);
  const isSecond = remarkOn(asset).isSecond === true;
  return (
    <span class="badges">
      {digit !== undefined && <kbd class="digit">{digit}</kbd>}
      {mark !== 'undecided' && <span class="mark">{`${mark === 'picked' ? '✓' : '✕'} ${mark}`}</span>}
      {isSecond && <span class="second">2nd choice</span>}
    </span>
  );
}

/** An address on one line, which is cut in the middle where it does not fit. Each part reads in its own direction. */
export function Address({ text }: { text: string }) {
  const [start, end] = endOf(text);
  return (
    <span class="address">
      {start !== '' && (
        <span>
          <Isolated text={start} />
        </span>
      )}
      <span>
        <Isolated text={end} />
      </span>
    </span>
  );
}

interface PictureProps {
  asset: ReviewAsset;
  digit?: number | undefined;
  /** CSS pixels. Defaults to the style sheet's. */
  size?: { width: number; height: number };
  /** It is asked for before others: a small picture that is not made yet takes a moment. */
  isFirst?: boolean | undefined;
}

/** Small picture of an asset, or why there is none, with its digit and its verdict on it. */
export function Picture({ asset, digit, size, isFirst }: PictureProps) {
  return (
    <span class="picture" style={size && { width: `${size.width}px`, height: `${size.height}px` }}>
      <Small asset={asset} isFirst={isFirst} side={size && Math.max(size.width, size.height)} />
      <Badges asset={asset} digit={digit} />
    </span>
  );
}

/** The picture itself, the first frame of a film, or words. */
export function Small({
  asset,
  isFirst,
  side,
}: Pick<PictureProps, 'asset' | 'isFirst'> & { side?: number | undefined }) {
  const file = mainFile(asset);
  const nothing = whyNothing(asset);
  if (file?.is === 'audio' && file.problem === undefined)
    return <KnownWave file={file} words={nothing ?? asset.kind} />;
  if (nothing !== undefined || file === undefined) return <Nothing text={nothing ?? ''} />;
  if (file.is === 'image') return <Thumb key={file.sha256} file={file} isFirst={isFirst} side={side} />;
  if (file.is === 'video') return <Film file={file} name={asset.address} isPlayer={false} />;
  return <Nothing text={file.path} />;
}

function Player({ page, asset }: { page: Page; asset: ReviewAsset }) {
  if (mainFile(asset)?.is !== 'audio' || whyNothing(asset) !== undefined) return null;
  return <ListenButton page={page} asset={asset} />;
}

/** Its state unless it is simply there, what it cost where that differs in the group, and the note of its verdict. */
function factsOf(asset: ReviewAsset, group?: ShownGroup): string {
  const words = asset.files.length > 0 ? stateWords(asset) : '';
  const showsPrice =
    asset.credits !== undefined && group?.assets.every((other) => other.credits === asset.credits) !== true;
  const price = showsPrice ? credits(asset.credits ?? null) : '';
  const { reason = '', note = remarkOn(asset).note ?? '' } = asset.verdict ?? {};
  return [price, words, reason, note].filter((part) => part !== '').join(' · ');
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
      onClick={({ detail }) => {
        if (mark !== is) page.judge(asset.address, is);
        // The second press of a double click takes nothing back.
        else if (detail < 2) page.judge(asset.address, 'undecided');
      }}
    >
      <span class="sign" aria-hidden="true">
        {is === 'picked' ? '✓' : '✕'}
      </span>
      <span class="word">{label}</span>
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

/** On a tile: plays or stops its sound. */
function ListenButton({ page, asset }: { page: Page; asset: ReviewAsset }) {
  const sounds = soundsOf(page);
  const deck = sounds.deck.value;
  const heard = deck?.tracks.value.find(({ url }) => url === deck.heard.value);
  const isHeard = heard?.address === asset.address && deck?.isPlaying.value === true;
  return (
    <button
      type="button"
      class="listen"
      aria-pressed={isHeard}
      tabIndex={page.active.value === asset.address ? 0 : -1}
      onClick={() => (isHeard ? sounds.toggle() : sounds.listenTo(asset.address))}
    >
      {isHeard ? 'Stop' : 'Listen'}
      <span class="away"> {asset.address}</span>
    </button>
  );
}
