import type { Approval } from '../../contract/approval.ts';
import { clockText } from '../numbers.ts';
import type { Style } from '../style.ts';
import { type Cell, tableText } from './table.ts';

/** A saved plan that somebody said yes to. `over`: why it counts no more. */
export type ApprovalRow = Omit<Approval, 'version' | 'digest' | 'lock'> & { over: string | undefined };

export function approvalsText(
  rows: readonly ApprovalRow[],
  { now, ...options }: { style: Style; width?: number; now: number },
): string {
  const columns = [
    { title: 'approved' },
    { title: 'by' },
    { title: 'until' },
    { title: 'campaign' },
    { title: 'what', least: 20 },
    { title: 'plan', least: 20, cut: 'middle' as const },
  ];
  const cells = rows.map((row): Cell[] => [
    clockText(row.at, now),
    row.by,
    endCell(row, { style: options.style, now }),
    row.campaign,
    row.what,
    row.plan,
  ]);
  return tableText(columns, cells, options);
}

function endCell({ until, ended, over }: ApprovalRow, { style, now }: { style: Style; now: number }): Cell {
  if (over === undefined) return { text: clockText(until, now), paint: style.green };
  return { text: ended === undefined ? 'over' : 'done', paint: style.dim };
}
