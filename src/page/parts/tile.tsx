import type { ComponentChildren } from 'preact';
import type { ReviewAsset } from '../../contract/review.ts';
import { digitOf, markOf, type ShownGroup } from '../model/shown.ts';
import { KnownWave } from '../sound/known-sounds.tsx';
import { soundsOf } from '../sound/state.ts';
import type { Page } from '../state/page.ts';
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
  size: { width: number; height: number };
  width: number;
  isFirst: boolean;
}

export function Tile({ page, asset, group, size, width, isFirst }: TileProps) {
  const isAsked = (group.group.gate !== undefined && group.assets.length > 1) || isSound(asset);
  return (
    <AssetBox page={page} asset={asset} place="tile" width={width}>
      <Face page={page} address={asset.address}>
        <Picture asset={asset} digit={isAsked ? digitOf(group, asset) : undefined} size={size} isFirst={isFirst} />
        <Caption asset={asset} group={group} />
      </Face>
      {isSound(asset) && whyNothing(asset) === undefined && <ListenButton page={page} asset={asset} />}
      {asset.isJudged && <VerdictButtons page={page} asset={asset} />}
    </AssetBox>
  );
}

interface CaptionProps {
  asset: ReviewAsset;
  /** Group of the asset. If given, the caption shows only the properties in which members of the group differ. */
  group?: ShownGroup;
  /** Label of a tile without `group`. Defaults to the address. */
  name?: string;
}

export function Caption({ asset, group, name = asset.address }: CaptionProps) {
  return (
    <span class="caption">
      <span class="name">
        {group === undefined ? (
          <Address text={name} />
        ) : (
          <>
            <span class="away">{asset.address} </span>
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
  return (
    <span class="badges">
      {digit !== undefined && <kbd class="digit">{digit}</kbd>}
      {mark !== 'undecided' && <span class="mark">{`${mark === 'picked' ? '✓' : '✕'} ${mark}`}</span>}
    </span>
  );
}

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
  /** Size in CSS pixels. Defaults to the size in the style sheet. */
  size?: { width: number; height: number };
  isFirst?: boolean | undefined;
}

export function Picture({ asset, digit, size, isFirst }: PictureProps) {
  return (
    <span class="picture" style={size && { width: `${size.width}px`, height: `${size.height}px` }}>
      <Small asset={asset} isFirst={isFirst} side={size && Math.max(size.width, size.height)} />
      <Badges asset={asset} digit={digit} />
    </span>
  );
}

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

/** Returns the asset's state unless it is done, its charge if charges differ in the group, and its verdict's note. */
function factsOf(asset: ReviewAsset, group?: ShownGroup): string {
  const words = asset.files.length > 0 ? stateWords(asset) : '';
  const showsPrice =
    asset.credits !== undefined && group?.assets.every((other) => other.credits === asset.credits) !== true;
  const price = showsPrice ? credits(asset.credits ?? null) : '';
  const { reason = '', note = '' } = asset.verdict ?? {};
  return [price, words, reason, note].filter((part) => part !== '').join(' · ');
}

interface VerdictButtonProps {
  page: Page;
  asset: ReviewAsset | undefined;
  is: 'picked' | 'rejected';
  tabIndex?: number;
  children: ComponentChildren;
}

export function VerdictButton({ page, asset, is, tabIndex, children }: VerdictButtonProps) {
  const isOn = asset?.verdict?.is === is;
  return (
    <button
      type="button"
      class={`verdict ${is}`}
      disabled={!asset?.isJudged}
      aria-pressed={isOn}
      tabIndex={tabIndex}
      // The second press of a double click is ignored.
      onClick={({ detail }) => asset && detail < 2 && page.judge(asset.address, isOn ? 'undecided' : is)}
    >
      {children}
    </button>
  );
}

export function VerdictButtons({ page, asset }: { page: Page; asset: ReviewAsset }) {
  const button = (is: 'picked' | 'rejected', sign: string, label: string) => (
    <VerdictButton page={page} asset={asset} is={is} tabIndex={page.active.value === asset.address ? 0 : -1}>
      <span class="sign" aria-hidden="true">
        {sign}
      </span>
      <span class="word">{label}</span>
      <span class="away"> {asset.address}</span>
    </VerdictButton>
  );
  return (
    <div class="verdicts">
      {button('picked', '✓', 'Pick')}
      {button('rejected', '✕', 'Reject')}
    </div>
  );
}

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
