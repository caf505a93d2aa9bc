import { useLayoutEffect, useRef } from 'preact/hooks';
import type { ReviewAsset } from '../../contract/review.ts';
import { markOf, type ShownGroup } from '../model/shown.ts';
import { GroupHead } from '../parts/group-head.tsx';
import { Caption, VerdictButtons } from '../parts/tile.tsx';
import { useFocus } from '../parts/use-focus.ts';
import { timeOf } from '../parts/words.ts';
import type { Page } from '../state/page.ts';
import type { Deck } from './deck.ts';
import { soundsOf } from './state.ts';
import { TrackWave } from './track-wave.tsx';
import { usePosition } from './use-position.ts';

/** The sounds of one group beneath each other at one scale: one is heard, and digits change which. */
export function SoundStage({ page, group }: { page: Page; group: ShownGroup }) {
  const within = useRef<HTMLDivElement>(null);
  useFocus(page, within);
  const sounds = soundsOf(page);
  useLayoutEffect(() => void sounds.open(), [group.index, group.assets.length]);
  const deck = sounds.deck.value;
  return (
    <div class="sounds" ref={within}>
      <GroupHead group={group} />
      {deck !== undefined && <Player page={page} deck={deck} />}
      <ul class="tracks">
        {group.assets.map((asset) => (
          <Asset key={asset.address} page={page} asset={asset} deck={deck} />
        ))}
      </ul>
    </div>
  );
}

function Player({ page, deck }: { page: Page; deck: Deck }) {
  const position = usePosition(deck);
  const sounds = soundsOf(page);
  const state = deck.states.value.get(deck.heard.value);
  const seconds = state?.is === 'ready' ? state.seconds : 0;
  return (
    <div class="tools" role="toolbar" aria-label="Listen">
      <button type="button" onClick={() => sounds.toggle()}>
        {deck.isPlaying.value ? 'Pause' : 'Play'} <kbd>Space</kbd>
      </button>
      <button type="button" onClick={() => sounds.jump(-1)}>
        Back 5 s <kbd>,</kbd>
      </button>
      <button type="button" onClick={() => sounds.jump(1)}>
        On 5 s <kbd>.</kbd>
      </button>
      <label class="time">
        Time
        <input
          type="range"
          min={0}
          max={seconds}
          step={0.1}
          value={position.value}
          aria-valuetext={`${timeOf(position.value)} of ${timeOf(seconds)}`}
          onInput={({ currentTarget: { valueAsNumber } }) => deck.seek(valueAsNumber)}
        />
      </label>
      <span class="clock">{`${timeOf(position.value)} / ${timeOf(seconds)}`}</span>
      {deck.isMatched === undefined ? (
        <span class="quiet">Each is as loud as it was made: only `mediabatch review` can match them.</span>
      ) : (
        <button type="button" aria-pressed={deck.isMatched.value} onClick={() => sounds.toggleMatch()}>
          Equally loud <kbd>L</kbd>
        </button>
      )}
    </div>
  );
}

function Asset({ page, asset, deck }: { page: Page; asset: ReviewAsset; deck: Deck | undefined }) {
  const isActive = page.active.value === asset.address;
  const tracks = deck?.tracks.value ?? [];
  return (
    <li
      class={`sound ${markOf(asset)}${isActive ? ' active' : ''}`}
      onFocusIn={() => page.activate(asset.address, false)}
    >
      <button
        type="button"
        class="face"
        data-asset={asset.address}
        tabIndex={isActive ? 0 : -1}
        aria-current={isActive}
        onClick={() => page.activate(asset.address)}
      >
        <Caption asset={asset} />
      </button>
      {deck !== undefined &&
        tracks.map((track, index) =>
          track.address === asset.address ? (
            <TrackWave key={track.url} page={page} deck={deck} track={track} number={index + 1} />
          ) : null,
        )}
      {asset.isJudged && <VerdictButtons page={page} asset={asset} />}
    </li>
  );
}
