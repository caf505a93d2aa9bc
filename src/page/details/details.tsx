import { useEffect, useState } from 'preact/hooks';
import type { ReviewAsset, ReviewEarlier, ReviewFile } from '../../contract/review.ts';
import { picksCommand } from '../model/leave.ts';
import { Isolated } from '../parts/isolated.tsx';
import { KeyButton } from '../parts/key-button.tsx';
import { Film, Sound, Thumb } from '../parts/media.tsx';
import { bytesText, credits, mainFile, problemOf, stateWords, timeOf } from '../parts/words.ts';
import type { Page } from '../state/page.ts';
import { RequestList } from './request-list.tsx';
import { pixelSize } from './request-rows.ts';
import { Steps } from './steps.tsx';

export function Details({ page }: { page: Page }) {
  const asset = page.activeAsset.value;
  return (
    <aside class="details" aria-label="Details">
      {asset === undefined ? <p>Nothing is active.</p> : <Asset page={page} asset={asset} />}
      <KeyButton k="I" onPress={() => page.toggleDetails()}>
        Close
      </KeyButton>
    </aside>
  );
}

function Asset({ page, asset }: { page: Page; asset: ReviewAsset }) {
  const { address, job = '', request, madeFrom, usedBy, files, earlier } = asset;
  const { Surroundings } = page.offer;
  const main = mainFile(asset);
  const measured = useMeasure(main);
  const others = (page.activeGroup.value?.assets ?? []).filter((other) => other !== asset);
  const known = (one: ReviewAsset) => ({
    ...(one.model !== undefined && { model: `${one.model} (default)` }),
    ...one.request,
    ...(measured !== '' && { [pixelSize]: measured }),
  });
  return (
    <>
      <h2>
        <Isolated text={address} />
      </h2>
      <RequestList page={page} request={known(asset)} others={others.map(known)} />
      <dl class="known">
        {factsOf(asset).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {asset.isJudged && (
        <Command page={page} command={picksCommand(page.data.value, [{ address, is: 'picked', job }])} />
      )}
      {Surroundings ? (
        <Surroundings page={page} asset={asset} />
      ) : (
        <>
          <Steps page={page} title="Made from" addresses={madeFrom} />
          <Steps page={page} title="Used by" addresses={usedBy} />
        </>
      )}
      {files.length > 0 && <h3>Files</h3>}
      {files.map((file) => (
        <FileFacts key={file.sha256 + file.path} file={file} isMain={file === main} />
      ))}
      {earlier.length > 0 && <h3>Earlier versions</h3>}
      {earlier.map((one, index) => (
        <Earlier key={one.job ?? index} page={page} earlier={one} request={request} />
      ))}
    </>
  );
}

function factsOf(asset: ReviewAsset): [name: string, value: string][] {
  const { kind, row, tags, job, verdict } = asset;
  const facts: [string, string | undefined][] = [
    ['Verdict', verdict && [verdict.is, verdict.reason, verdict.note].filter(Boolean).join(': ')],
    ['By', verdict?.by],
    ['State', stateWords(asset)],
    ['Kind', kind],
    ['Row', row],
    ['Tags', tags.join(', ')],
    ['Charged', asset.credits === undefined ? undefined : credits(asset.credits)],
    ['Job', job],
  ];
  return facts.flatMap(([name, value]) => (value ? [[name, value]] : []));
}

export function Command({ page, command }: { page: Page; command: string }) {
  const copy = () =>
    navigator.clipboard.writeText(command).then(
      () => page.say('The command is copied.'),
      () => page.say('This browser does not let the page copy: select the command in the details.'),
    );
  return (
    <p class="command">
      <code>
        <Isolated text={command} />
      </code>{' '}
      <button type="button" onClick={copy}>
        Copy command
      </button>
    </p>
  );
}

function FileFacts({ file, isMain }: { file: ReviewFile; isMain: boolean }) {
  const { path, mediaType, bytes, sha256, hasCredentials } = file;
  const brings = hasCredentials === true ? 'content credentials (C2PA)' : '';
  // The measures of the main file are shown above.
  const measured = useMeasure(isMain ? undefined : file);
  return (
    <div class="file">
      <code>{path}</code>
      <p>{[mediaType, measured, bytesText(bytes), brings, problemOf(file)].filter(Boolean).join(' · ')}</p>
      <p class="digest">
        <span class="quiet">sha256</span> <code>{sha256}</code>
      </p>
    </div>
  );
}

/** Pixel size and duration as measured by the browser; empty until they are known. */
function useMeasure({ is, url }: Partial<ReviewFile> = {}): string {
  const [text, setText] = useState('');
  useEffect(() => {
    setText('');
    if (url === undefined || is === undefined || is === 'other') return;
    if (is === 'image') {
      const image = new Image();
      image.onload = () => setText(`${image.naturalWidth} × ${image.naturalHeight}`);
      image.src = url;
      return () => {
        image.onload = null;
      };
    }
    const player = document.createElement(is);
    player.preload = 'metadata';
    player.onloadedmetadata = () => {
      const pixels = player instanceof HTMLVideoElement ? [`${player.videoWidth} × ${player.videoHeight}`] : [];
      setText([...pixels, timeOf(player.duration)].join(' · '));
    };
    player.src = url;
    return () => player.removeAttribute('src');
  }, [url]);
  return text;
}

interface EarlierProps {
  page: Page;
  earlier: ReviewEarlier;
  request: ReviewAsset['request'];
}

/** An earlier purchase of an asset: its file if that was kept, its cost, and its request. */
export function Earlier({ page, earlier, request }: EarlierProps) {
  const { job, changed, files } = earlier;
  const file = files.find(({ is }) => is !== 'other');
  const facts = [earlier.credits === undefined ? '' : credits(earlier.credits), job ?? '', wordsOf(earlier)];
  return (
    <div class="earlier">
      {file === undefined && <p class="quiet">Its output is no longer on this disk.</p>}
      {file?.is === 'image' && <Thumb key={file.sha256} file={file} />}
      {file?.is === 'audio' && <Sound file={file} name={`Earlier version ${job ?? ''}`} />}
      {file?.is === 'video' && <Film file={file} name={`Earlier version ${job ?? ''}`} isPlayer />}
      <p>{facts.filter(Boolean).join(' · ')}</p>
      {changed.length > 0 && <RequestList page={page} request={earlier.request} others={[request]} isBrief />}
    </div>
  );
}

/**
 * Describes the request of an earlier purchase. The lock always has the newest request, but may have lost older ones.
 */
function wordsOf({ request, changed }: ReviewEarlier): string {
  if (Object.keys(request).length === 0) return 'the lock no longer has its request';
  return changed.length === 0 ? 'the same request' : `changed since: ${changed.join(', ')}`;
}
