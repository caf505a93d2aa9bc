import { useLayoutEffect, useRef } from 'preact/hooks';
import type { ReviewAsset } from '../../contract/review.ts';
import type { ShownGroup } from '../model/shown.ts';
import { AssetBox } from '../parts/asset-box.tsx';
import { Face } from '../parts/face.tsx';
import { GroupHead } from '../parts/group-head.tsx';
import { KeyButton } from '../parts/key-button.tsx';
import { Caption, VerdictButtons } from '../parts/tile.tsx';
import { Transport } from '../parts/transport.tsx';
import { useFocus } from '../parts/use-focus.ts';
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
      <GroupHead page={page} group={group} />
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
  return (
    <section class="tools" aria-label="Tools">
      <Transport
        isPlaying={deck.isPlaying.value}
        position={position.value}
        seconds={state?.is === 'ready' ? state.seconds : 0}
        onToggle={() => sounds.toggle()}
        onSeek={(seconds) => deck.seek(seconds)}
      />
      <KeyButton k="," onPress={() => sounds.jump(-1)}>
        Back 5 s
      </KeyButton>
      <KeyButton k="." onPress={() => sounds.jump(1)}>
        On 5 s
      </KeyButton>
      {deck.isMatched === undefined ? (
        <span class="quiet">Each is as loud as it was made: only `mediabatch review` can match them.</span>
      ) : (
        <KeyButton k="L" isOn={deck.isMatched.value} onPress={() => sounds.toggleMatch()}>
          Equally loud
        </KeyButton>
      )}
    </section>
  );
}

function Asset({ page, asset, deck }: { page: Page; asset: ReviewAsset; deck: Deck | undefined }) {
  const tracks = deck?.tracks.value ?? [];
  return (
    <li>
      <AssetBox page={page} asset={asset} place="sound">
        <Face page={page} address={asset.address}>
          <Caption asset={asset} />
        </Face>
        <div class="sound-tracks">
          {tracks.map((track, index) =>
            deck !== undefined && track.address === asset.address ? (
              <TrackWave key={track.url} page={page} deck={deck} track={track} number={index + 1} />
            ) : null,
          )}
        </div>
        {asset.isJudged && <VerdictButtons page={page} asset={asset} />}
      </AssetBox>
    </li>
  );
}
