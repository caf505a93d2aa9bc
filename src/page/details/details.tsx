import { useEffect, useState } from 'preact/hooks';
import type { ReviewAsset, ReviewFile } from '../../contract/review.ts';
import { hasChanged } from '../changes/versions.ts';
import { Facts } from '../parts/facts.tsx';
import { Isolated } from '../parts/isolated.tsx';
import { KeyButton } from '../parts/key-button.tsx';
import { Picture } from '../parts/tile.tsx';
import { bytesText, credits, mainFile, problemOf, stateWords } from '../parts/words.ts';
import type { Page } from '../state/page.ts';
import { listRequest, pixelSize } from './request-rows.ts';

export function Details({ page }: { page: Page }) {
  const asset = page.activeAsset.value;
  return (
    <aside class="details" aria-label="Details">
      {asset === undefined ? <p>No output is active.</p> : <Asset page={page} asset={asset} />}
      <KeyButton k="I" onPress={() => page.toggleDetails()}>
        Close
      </KeyButton>
    </aside>
  );
}

function Asset({ page, asset }: { page: Page; asset: ReviewAsset }) {
  const { address, report, madeFrom, usedBy, files } = asset;
  const origins = Object.entries(report?.origins ?? {});
  const others = (page.activeGroup.value?.assets ?? []).filter((other) => other !== asset);
  const size = useSize(mainFile(asset));
  const known = ({ defaults, request }: ReviewAsset) => ({
    ...defaults,
    ...request,
    ...(size !== '' && { [pixelSize]: size }),
  });
  return (
    <>
      <h2>
        <Isolated text={address} />
      </h2>
      <RequestList page={page} request={known(asset)} others={others.map(known)} />
      <Facts facts={factsOf(asset)} />
      {origins.length > 0 && <h3>Origins</h3>}
      <Facts facts={origins} />
      <Steps page={page} title="Made from" addresses={madeFrom} />
      <Steps page={page} title="Used by" addresses={usedBy} />
      {hasChanged(asset) && !page.isForClient && (
        <KeyButton k="A" onPress={() => page.open('changes')}>
          Before | after
        </KeyButton>
      )}
      {files.length > 0 && <h3>Files</h3>}
      {files.map((file) => (
        <FileFacts key={file.sha256 + file.path} file={file} />
      ))}
    </>
  );
}

function factsOf(asset: ReviewAsset): [name: string, value: string][] {
  const { kind, row, tags, job, verdict, report } = asset;
  const facts: [string, string | undefined][] = [
    ['Verdict', verdict && [verdict.is, verdict.reason, verdict.note].filter(Boolean).join(': ')],
    ['By', verdict?.by],
    ['State', stateWords(asset)],
    ['Kind', kind],
    ['Row', row],
    ['Tags', tags.join(', ')],
    ['Charged', asset.credits === undefined ? undefined : credits(asset.credits)],
    ['Expected', report?.estimated === undefined ? undefined : credits(report.estimated)],
    ['Job', job],
  ];
  return facts.flatMap(([name, value]) => (value ? [[name, value]] : []));
}

function FileFacts({ file }: { file: ReviewFile }) {
  const { path, mediaType, bytes, hasCredentials } = file;
  const brings = hasCredentials === true ? 'content credentials (C2PA)' : '';
  return (
    <div class="file">
      {file.url === undefined || file.url.startsWith('data:') ? (
        <Isolated text={path} />
      ) : (
        <a href={file.url} target="_blank" rel="noreferrer">
          <Isolated text={path} />
        </a>
      )}
      <p>{[mediaType, bytesText(bytes), brings, problemOf(file)].filter(Boolean).join(' · ')}</p>
    </div>
  );
}

function useSize({ is, url }: Partial<ReviewFile> = {}): string {
  const [seen, setSeen] = useState({ url, size: '' });
  useEffect(() => {
    if (url === undefined || is !== 'image') return;
    const image = new Image();
    image.onload = () => setSeen({ url, size: `${image.naturalWidth} × ${image.naturalHeight}` });
    image.src = url;
  }, [url]);
  return seen.url === url ? seen.size : '';
}

type Request = ReviewAsset['request'];

interface RequestListProps {
  page: Page;
  request: Request;
  others: readonly Request[];
  isBrief?: boolean;
}

/** Lists the values of a request, and marks values that other requests lack. `isBrief`: lists only marked values. */
export function RequestList({ page, request, others, isBrief = false }: RequestListProps) {
  const rows = listRequest(request, others).filter(({ differs }) => differs || !isBrief);
  return (
    <dl class="request">
      {rows.map(({ path, value, differs }) => (
        <div key={path} class={differs && !isBrief ? 'differs' : ''}>
          <dt>
            {path}
            {differs && !isBrief && <span class="quiet"> differs in the group</span>}
          </dt>
          <dd>
            {typeof value === 'string' ? (
              value
            ) : (
              <>
                <StepButton page={page} address={value.address} /> {value.field}
              </>
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}

const mostPictures = 24;

function Steps({ page, title, addresses }: { page: Page; title: string; addresses: readonly string[] }) {
  if (addresses.length === 0) return null;
  return (
    <>
      <h3>{title}</h3>
      <ul class="steps">
        {addresses.map((address, index) => (
          <li key={address}>
            <StepButton page={page} address={address} hasPicture={index < mostPictures} />
          </li>
        ))}
      </ul>
    </>
  );
}

interface StepButtonProps {
  page: Page;
  address: string;
  hasPicture?: boolean;
}

function StepButton({ page, address, hasPicture = false }: StepButtonProps) {
  const asset = page.shown.value.assets.get(address);
  if (asset === undefined)
    return (
      <code>
        <Isolated text={address} />
      </code>
    );
  return (
    <button type="button" class={hasPicture ? 'step pictured' : 'step'} onClick={() => leadTo(page, address)}>
      {hasPicture && <Picture asset={asset} />}
      <Isolated text={address} />
    </button>
  );
}

function leadTo(page: Page, address: string): void {
  const isShown = page.strips.value.some(({ assets }) => assets.some((asset) => asset.address === address));
  if (!isShown) page.clearFilter();
  page.activate(address);
}
