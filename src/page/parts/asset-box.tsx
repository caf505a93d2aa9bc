import type { ComponentChildren } from 'preact';
import type { ReviewAsset } from '../../contract/review.ts';
import { markOf } from '../model/shown.ts';
import type { Page } from '../state/page.ts';

interface AssetBoxProps {
  page: Page;
  asset: ReviewAsset;
  place: string;
  /** CSS pixels. Defaults to the width of the style sheet. */
  width?: number;
  children: ComponentChildren;
}

/** Frame around an asset: its verdict, and whether it is the active one, which it is when the keyboard is in it. */
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
