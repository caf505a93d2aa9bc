import type { ReviewAsset } from '../../contract/review.ts';
import type { Page } from '../state/page.ts';
import { listLacking, listRequest, type RequestRow } from './request-rows.ts';
import { StepButton } from './steps.tsx';

type Request = ReviewAsset['request'];

interface RequestListProps {
  page: Page;
  request: Request;
  others: readonly Request[];
  isBrief?: boolean;
}

/** Lists the values of a request. Values that differ from other requests are marked, in texts word by word. */
export function RequestList({ page, request, others, isBrief = false }: RequestListProps) {
  const rows = listRequest(request, others).filter(({ differs }) => differs || !isBrief);
  const lacking = listLacking(request, others);
  return (
    <>
      <dl class="request">
        {rows.map((row) => (
          <div key={row.path} class={row.differs && !isBrief ? 'differs' : ''}>
            <dt>
              {row.path}
              {row.differs && !isBrief && <span class="quiet"> differs in the group</span>}
            </dt>
            <dd>
              <Value page={page} value={row.value} />
            </dd>
          </div>
        ))}
      </dl>
      {lacking.length > 0 && <p class="quiet">{`Not here, but in others: ${lacking.join(', ')}`}</p>}
    </>
  );
}

function Value({ page, value }: { page: Page; value: RequestRow['value'] }) {
  if (value.is === 'step') {
    return (
      <>
        <StepButton page={page} address={value.address} /> {value.field}
      </>
    );
  }
  return <>{value.stretches.map(({ text, differs }, index) => (differs ? <mark key={index}>{text}</mark> : text))}</>;
}
