import type { Approval } from '../../contract/approval.ts';
import { type Document, faint, good, type Text, table } from '../document.ts';
import { clockText } from '../numbers.ts';

/** An approved plan. `over`: why the approval is no longer valid. */
type ApprovalRow = Omit<Approval, 'version' | 'digest' | 'lock'> & { over: string | undefined };

export function approvalsView(rows: readonly ApprovalRow[], now: number): Document {
  const columns = [
    { title: 'approved' },
    { title: 'by' },
    { title: 'until' },
    { title: 'campaign' },
    { title: 'what', least: 20 },
    { title: 'plan', least: 20, cut: 'middle' as const },
  ];
  const cells = rows.map((row): Text[] => [
    clockText(row.at, now),
    row.by,
    endCell(row, now),
    row.campaign,
    row.what,
    row.plan,
  ]);
  return [table(columns, cells)];
}

function endCell({ until, ended, over }: ApprovalRow, now: number): Text {
  if (over === undefined) return good(clockText(until, now));
  return faint(ended === undefined ? 'over' : 'done');
}
