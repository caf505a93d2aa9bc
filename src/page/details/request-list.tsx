import type { ReviewAsset } from '../../contract/review.ts';
import type { Page } from '../state/page.ts';
import { listRequest } from './request-rows.ts';
import { StepButton } from './steps.tsx';

type Request = ReviewAsset['request'];

interface RequestListProps {
  page: Page;
  request: Request;
  others: readonly Request[];
  isBrief?: boolean;
}

/** Lists the values of a request. Values that differ from other requests are marked; `isBrief`: only those. */
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
