import type { ReviewAsset } from '../../contract/review.ts';
import { Isolated } from '../parts/isolated.tsx';
import { Picture } from '../parts/tile.tsx';
import type { Page } from '../state/page.ts';
import { listRequest } from './request-rows.ts';

type Request = ReviewAsset['request'];

interface RequestListProps {
  page: Page;
  request: Request;
  others: readonly Request[];
  isBrief?: boolean;
}

/**
 * Lists the values of a request. Marks values that differ in the other requests. `isBrief`: lists only these values.
 */
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

export function Steps({ page, title, addresses }: { page: Page; title: string; addresses: readonly string[] }) {
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
