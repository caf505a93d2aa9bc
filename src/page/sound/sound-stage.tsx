import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { ReviewAsset } from '../../contract/review.ts';
import type { ShownGroup } from '../model/shown.ts';
import { AssetBox } from '../parts/asset-box.tsx';
import { Face } from '../parts/face.tsx';
import { GroupHead } from '../parts/group-head.tsx';
import { KeyButton } from '../parts/key-button.tsx';
import { Nothing, whyNothing } from '../parts/media.tsx';
import { useSight } from '../parts/scroll-to-asset.ts';
import { Badges, Caption, VerdictButtons } from '../parts/tile.tsx';
import { Transport } from '../parts/transport.tsx';
import { useFocus } from '../parts/use-focus.ts';
import { timeOf } from '../parts/words.ts';
import type { Page } from '../state/page.ts';
import type { Deck } from './deck.ts';
import { soundOf, Wave } from './known-sounds.tsx';
import { soundsOf } from './state.ts';
import type { Track } from './tracks.ts';

export function SoundStage({ page, group }: { page: Page; group: ShownGroup }) {
  const within = useRef<HTMLDivElement>(null);
  useFocus(page, within);
  useSight(page, within);
  const sounds = soundsOf(page);
  useLayoutEffect(() => void sounds.open(), [group.index, group.assets.length]);
  const deck = sounds.deck.value;
  return (
    <div class="sounds" ref={within}>
      <GroupHead page={page} group={group} />
      {deck !== undefined && <Player page={page} deck={deck} />}
      <ul class="tracks">
        {group.assets.map((asset) => (
          <Asset key={asset.address} page={page} asset={asset} group={group} deck={deck} />
        ))}
      </ul>
    </div>
  );
}

function Player({ page, deck }: { page: Page; deck: Deck }) {
  const position = usePosition(deck);
  const sounds = soundsOf(page);
  return (
    <section class="tools" aria-label="Tools">
      <Transport
        isPlaying={deck.isPlaying.value}
        position={position.value}
        seconds={deck.lengths.value.get(deck.heard.value) ?? 0}
        onToggle={() => sounds.toggle()}
        onSeek={(seconds) => deck.seek(seconds)}
      />
      <KeyButton k="," onPress={() => sounds.jump(-1)}>
        Back 5 s
      </KeyButton>
      <KeyButton k="." onPress={() => sounds.jump(1)}>
        On 5 s
      </KeyButton>
    </section>
  );
}

interface AssetProps {
  page: Page;
  asset: ReviewAsset;
  group: ShownGroup;
  deck: Deck | undefined;
}

function Asset({ page, asset, group, deck }: AssetProps) {
  const tracks = deck?.tracks.value ?? [];
  const why = whyNothing(asset);
  return (
    <li>
      <AssetBox page={page} asset={asset} place="sound">
        <Face page={page} address={asset.address}>
          <Caption asset={asset} group={group} />
          <Badges asset={asset} />
        </Face>
        <div class="sound-tracks">
          {why !== undefined && <Nothing text={why} />}
          {tracks.map((track) =>
            deck !== undefined && track.address === asset.address ? (
              <TrackWave key={track.url} page={page} deck={deck} track={track} number={track.number} />
            ) : null,
          )}
        </div>
        {asset.isJudged && <VerdictButtons page={page} asset={asset} />}
      </AssetBox>
    </li>
  );
}

interface TrackWaveProps {
  page: Page;
  deck: Deck;
  track: Track;
  number: number;
}

function TrackWave({ page, deck, track, number }: TrackWaveProps) {
  const sound = soundOf(track.file);
  const lengths = deck.lengths.value;
  const seconds = lengths.get(track.url) ?? 0;
  const sounds = soundsOf(page);
  const isHeard = deck.heard.value === track.url;
  const isPlaying = isHeard && deck.isPlaying.value;
  const longest = Math.max(0, ...[...lengths.values()].map((one) => one ?? 0));
  const seekTo = (event: MouseEvent & { currentTarget: Element }) => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    if (!isHeard) sounds.listen(number);
    deck.seek(((event.clientX - left) / width) * longest);
  };
  return (
    <div class={`track${isHeard ? ' heard' : ''}`}>
      <button
        type="button"
        aria-pressed={isHeard}
        onClick={() => (isPlaying ? sounds.toggle() : sounds.listen(number))}
      >
        {isPlaying ? 'Stop' : 'Listen'}
        <span class="away"> {track.address}</span> {track.name}
        {number <= 9 && <kbd>{number}</kbd>}
      </button>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the slider of the time does the same by keys */}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: as above */}
      <div class="wave" onClick={seekTo}>
        {sound !== undefined && <Wave peaks={sound.peaks} part={longest > 0 ? seconds / longest : 1} />}
        {isHeard && longest > 0 && <PlayHead deck={deck} longest={longest} />}
      </div>
      <span class="facts">
        {lengths.has(track.url) && seconds === 0
          ? 'this browser cannot play this sound'
          : factsOf(seconds, sound?.loudness, deck.gains.value.get(track.url))}
      </span>
    </div>
  );
}

function PlayHead({ deck, longest }: { deck: Deck; longest: number }) {
  const position = usePosition(deck);
  return <div class="play-head" style={{ left: `${Math.min(1, position.value / longest) * 100}%` }} />;
}

function factsOf(seconds: number, loudness: number | undefined, gain = 1): string {
  const quieter = -20 * Math.log10(gain);
  return [
    timeOf(seconds),
    loudness !== undefined && (Number.isFinite(loudness) ? `${loudness.toFixed(1).replace('-', '−')} LUFS` : 'silent'),
    quieter >= 0.5 && `played ${quieter.toFixed(1)} dB quieter`,
  ]
    .filter(Boolean)
    .join(' · ');
}

/** Returns the position of a deck in seconds, updated on each animation frame. */
function usePosition(deck: Deck): Signal<number> {
  const position = useSignal(deck.position());
  useEffect(() => {
    let frame = requestAnimationFrame(function look() {
      position.value = deck.position();
      frame = requestAnimationFrame(look);
    });
    return () => cancelAnimationFrame(frame);
  }, [deck]);
  return position;
}
