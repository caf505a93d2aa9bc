import { unlink } from 'node:fs/promises';
import { dirname, extname, join, resolve } from 'node:path';
import type { OpenCampaign } from '../../campaign/open-campaign.ts';
import { CampaignError } from '../../contract/failure.ts';
import { findWayOut } from '../../disk/fs/own-tree.ts';
import { lstatOrAbsent, readStart } from '../../disk/fs/plain-file.ts';
import { replaceFile } from '../../disk/fs/replace.ts';
import { messageOf } from '../../ground/values.ts';
import { FileFinder } from '../find-files.ts';
import { describeGallery, type GalleryOptions } from '../gallery/describe-gallery.ts';
import { findFiles, measurePlaced } from '../gallery/gallery-files.ts';
import { Thumbs } from '../thumbs/thumbs.ts';
import { drawSheets, mostSheets, type SheetsDrawn } from './draw-sheets.ts';
import { isMarked, markWithin, type SheetFormat } from './mark-picture.ts';

export interface SavedSheets extends SheetsDrawn {
  /** Paths of the sheets, as the person named the first. */
  paths: string[];
}

const formats: Readonly<Record<string, SheetFormat>> = { '.jpg': 'jpeg', '.jpeg': 'jpeg', '.png': 'png' };

/**
 * Writes contact sheets of a campaign to a file, and what does not fit on one to files beside it: `sheet.jpg`,
 * `sheet-2.jpg`. Only sheets are written over (MB3301). Sends nothing, takes no lock. `path`: as a person has named it;
 * another ending is MB3001.
 */
export async function saveSheets(campaign: OpenCampaign, path: string, options: GalleryOptions): Promise<SavedSheets> {
  const format = formats[extname(path).toLowerCase()];
  if (format === undefined) {
    throw new CampaignError({
      code: 'MB3001',
      message: `--sheet: ${path} does not end as a picture does`,
      hint: 'give a name that ends in .jpg or .png',
      options: ['--sheet'],
    });
  }
  const all = Array.from({ length: mostSheets }, (_, index) => nameOf(path, index));
  const wayOut = findWayOut(dirname(resolve(path)));
  if (wayOut !== undefined) throw unwritten(path, `is not written: ${wayOut}`);
  const strange = all.find((one) => lstatOrAbsent(one) !== undefined && !isSheet(one));
  if (strange !== undefined) {
    throw unwritten(strange, 'is there already, and is no sheet that was drawn before; it was left as it is');
  }
  const finder = new FileFinder(campaign.paths);
  const data = await describeGallery(campaign, finder, options);
  // Marks what is there no more, or has other bytes by now.
  await findFiles(data, campaign, finder);
  const thumbs = new Thumbs(campaign.paths.state);
  const paths: string[] = [];
  try {
    const drawn = await drawSheets(
      data,
      {
        format,
        thumbOf: (file) => thumbs.get(file, () => finder.find(file)),
        factsOf: (file) => measurePlaced(campaign, file, ['size', 'wave']),
      },
      async (bytes, index) => {
        const name = nameOf(path, index);
        await replaceFile(name, bytes).catch((error: unknown) => {
          throw unwritten(
            name,
            `cannot be written: ${messageOf(error)}`,
            'name a file in a folder that exists and has room',
          );
        });
        paths.push(name);
      },
    );
    // Of an earlier set that was larger.
    for (const old of all.slice(paths.length).filter(isSheet)) await unlink(old);
    return { ...drawn, paths };
  } finally {
    await thumbs.close();
    await campaign.measures.keep();
  }
}

/** `sheets/grid.jpg`, `sheets/grid-2.jpg`. */
function nameOf(path: string, index: number): string {
  if (index === 0) return path;
  const ending = extname(path);
  return `${join(path.slice(0, -ending.length))}-${index + 1}${ending}`;
}

function isSheet(path: string): boolean {
  return isMarked(readStart(path, markWithin) ?? '');
}

function unwritten(path: string, why: string, hint = 'choose another name'): CampaignError {
  return new CampaignError({ code: 'MB3301', message: `--sheet: ${path} ${why}`, hint, path });
}
