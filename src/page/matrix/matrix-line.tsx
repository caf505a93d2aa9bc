import { useMemo } from 'preact/hooks';
import type { ReviewAsset } from '../../contract/review.ts';
import { markOf } from '../model/shown.ts';
import { AssetBox } from '../parts/asset-box.tsx';
import { Face } from '../parts/face.tsx';
import { mainFile, Thumb, whyNothing } from '../parts/media.tsx';
import { shortName } from '../parts/words.ts';
import type { Page } from '../state/page.ts';
import type { MatrixRow } from './layout.ts';

/** CSS pixels: a row, and an asset in its cell. */
export const rowHeight = 116;
const assetWidth = 92;
const nameWidth = 150;

/** The columns of a line, in the terms of a CSS grid. */
export function templateOf(widths: readonly number[]): string {
  return `${nameWidth}px ${widths.map((width) => `${width * assetWidth + 12}px`).join(' ')}`;
}

interface MatrixLineProps {
  page: Page;
  row: MatrixRow;
  index: number;
  /** CSS pixels from the top of all rows. */
  start: number;
  widths: readonly number[];
}

/** One key, with a cell for each column. */
export function MatrixLine({ page, row, index, start, widths }: MatrixLineProps) {
  // Scrolling draws all lines anew: one that is the same stays as it is.
  return useMemo(
    () => (
      <tr
        class="matrix-line"
        aria-rowindex={index + 2}
        style={{
          gridTemplateColumns: templateOf(widths),
          transform: `translateY(${start}px)`,
          height: `${rowHeight}px`,
        }}
      >
        <th scope="row">{row.name}</th>
        {row.cells.map((cell, column) => (
          <td key={column} class={cell.length === 0 ? 'hole' : 'cell'}>
            {cell.length === 0 ? (
              <span>
                –<span class="away"> no such step</span>
              </span>
            ) : (
              cell.map((asset, place) => (
                <Asset
                  key={asset.address}
                  page={page}
                  asset={asset}
                  name={cell.length > 1 ? shortName(asset, place) : ''}
                />
              ))
            )}
          </td>
        ))}
      </tr>
    ),
    [row, index, start, widths],
  );
}

function Asset({ page, asset, name }: { page: Page; asset: ReviewAsset; name: string }) {
  const { address } = asset;
  const mark = markOf(asset);
  const file = mainFile(asset);
  const isPicture = file?.is === 'image' && whyNothing(asset) === undefined;
  return (
    <AssetBox page={page} asset={asset} place="matrix-asset">
      <Face page={page} address={address}>
        {isPicture && file !== undefined ? (
          <span class="small">
            <Thumb key={file.sha256} file={file} />
          </span>
        ) : (
          <span class={`small state ${stateOf(asset)}`}>{stateOf(asset)}</span>
        )}
        <span class="matrix-mark">
          <span class="away">{address} </span>
          {mark === 'undecided' ? name : mark}
        </span>
      </Face>
    </AssetBox>
  );
}

/** Names in a word what is there instead of a picture. */
function stateOf(asset: ReviewAsset): string {
  const problem = mainFile(asset)?.problem;
  if (problem !== undefined) return problem;
  return asset.state === 'done' ? asset.kind : asset.state;
}
