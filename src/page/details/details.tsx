import type { ReviewAsset } from '../../contract/review.ts';
import { picksCommand } from '../model/leave.ts';
import { KeyButton } from '../parts/key-button.tsx';
import { credits, stateWords } from '../parts/words.ts';
import type { Page } from '../state/page.ts';
import { Earlier } from './earlier.tsx';
import { FileFacts } from './file-facts.tsx';
import { RequestList } from './request-list.tsx';
import { Steps } from './steps.tsx';

/** All that is known of the active asset, beside the view. */
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
  const others = (page.activeGroup.value?.assets ?? []).filter((other) => other !== asset);
  return (
    <>
      <h2>{address}</h2>
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
      <h3>Request</h3>
      <RequestList page={page} request={request} others={others.map((other) => other.request)} />
      {page.Surroundings ? (
        <page.Surroundings page={page} asset={asset} />
      ) : (
        <>
          <Steps page={page} title="Made from" addresses={madeFrom} />
          <Steps page={page} title="Used by" addresses={usedBy} />
        </>
      )}
      {files.length > 0 && <h3>Files</h3>}
      {files.map((file) => (
        <FileFacts key={file.sha256 + file.path} file={file} />
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
    ['Verdict', verdict === undefined ? undefined : [verdict.is, verdict.note].filter(Boolean).join(': ')],
    ['State', stateWords(asset)],
    ['Kind', kind],
    ['Row', row],
    ['Tags', tags.join(', ')],
    ['Charged', asset.credits === undefined ? undefined : credits(asset.credits)],
    ['Job', job],
  ];
  return facts.flatMap(([name, value]) => (value ? [[name, value]] : []));
}

/** A command for a terminal, to be selected or copied. */
export function Command({ page, command }: { page: Page; command: string }) {
  const copy = () =>
    navigator.clipboard.writeText(command).then(
      () => page.say('The command is copied.'),
      () => page.say('This browser does not let the page copy: select the command in the details.'),
    );
  return (
    <p class="command">
      <code>{command}</code>{' '}
      <button type="button" onClick={copy}>
        Copy command
      </button>
    </p>
  );
}
