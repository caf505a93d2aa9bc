import type { ComponentChildren } from 'preact';
import type { ReviewAsset } from '../../contract/review.ts';
import { markOf } from '../model/shown.ts';
import type { Page } from '../state/page.ts';

interface AssetBoxProps {
  page: Page;
  asset: ReviewAsset;
  place: string;
  /** Width in CSS pixels. Defaults to the width in the style sheet. */
  width?: number;
  children: ComponentChildren;
}

export function AssetBox({ page, asset, place, width, children }: AssetBoxProps) {
  const { address, state } = asset;
  const is = [
    state === 'failed' || state === 'unresolved' ? 'is-failed' : '',
    page.active.value === address ? 'active' : '',
  ];
  return (
    <div
      class={['box', place, markOf(asset), ...is].filter(Boolean).join(' ')}
      data-address={address}
      style={width === undefined ? undefined : { width: `${width}px` }}
      onFocusIn={() => page.activate(address, false)}
    >
      {children}
    </div>
  );
}
