/**
 * Image model. Prices, number of references and pixel sizes are not documented by the service; the sandbox chose them.
 */
export interface ImageModel {
  readonly runs: string;
  readonly ratios: readonly string[];
  readonly resolutions: Readonly<Record<string, Resolution>>;
  readonly defaultResolution: string;
  readonly references: number;
}

export interface Resolution {
  readonly credits: number;
  readonly size: ImageSize;
}

/** `area`: the picture has as many pixels as a square with this side, at any aspect ratio. */
type ImageSize =
  | { readonly type: 'area'; readonly sidePixels: number }
  | { readonly type: 'exact'; readonly widthPixels: number; readonly heightPixels: number };

function area(credits: number, sidePixels: number): Resolution {
  return { credits, size: { type: 'area', sidePixels } };
}

function exact(credits: number, widthPixels: number, heightPixels: number): Resolution {
  return { credits, size: { type: 'exact', widthPixels, heightPixels } };
}

const betaRatios = ['1:1', '4:3', '3:4', '16:9', '9:16', '2:3', '3:2', '21:9'];
const betaTiers = { basic: area(3, 1024), high: area(3, 2048) };
const beta = {
  runs: 'beta-5.0-pro',
  ratios: betaRatios,
  resolutions: betaTiers,
  defaultResolution: 'basic',
  references: 10,
};

export const imageModels: Readonly<Record<string, ImageModel>> = {
  'alpha-2': {
    runs: 'alpha-2',
    ratios: [
      'auto',
      '1:1',
      '16:9',
      '9:16',
      '4:3',
      '3:4',
      '3:2',
      '2:3',
      '4:5',
      '5:4',
      '21:9',
      '1:4',
      '4:1',
      '1:8',
      '8:1',
    ],
    resolutions: { '1k': area(2, 1024), '2k': area(3, 2048), '4k': area(5, 4096) },
    defaultResolution: '2k',
    references: 14,
  },
  'alpha-pro': {
    runs: 'alpha-pro',
    ratios: ['1:1', '2:3', '3:4', '4:5', '3:2', '4:3', '5:4', '16:9', '21:9'],
    resolutions: { '1k': area(4, 1024), '2k': area(6, 2048), '4k': area(9, 4096) },
    defaultResolution: '2k',
    references: 8,
  },
  'beta-5.0-pro': beta,
  'beta-v5-lite': beta,
  'gamma-image-2': {
    runs: 'gamma-image-2',
    ratios: ['auto', '1:1', '9:16', '16:9', '4:3', '3:4'],
    resolutions: { '1k': area(3, 1024), '2k': area(4, 2048), '4k': area(7, 4096) },
    defaultResolution: '2k',
    references: 16,
  },
  'gamma-image-1.5': {
    runs: 'gamma-image-2',
    ratios: [],
    resolutions: {
      '1024x1024': exact(3, 1024, 1024),
      '1024x1536': exact(3, 1024, 1536),
      '1536x1024': exact(3, 1536, 1024),
    },
    defaultResolution: '1024x1024',
    references: 16,
  },
};

/** Returns sides that are multiples of 16. `auto` and a missing ratio give a square. */
export function pixelSize(size: ImageSize, ratio: string): { readonly width: number; readonly height: number } {
  if (size.type === 'exact') return { width: size.widthPixels, height: size.heightPixels };
  const [across = 1, down = 1] = /^\d+:\d+$/.test(ratio) ? ratio.split(':').map(Number) : [1, 1];
  const factor = Math.sqrt(across / down);
  const side = (pixels: number) => Math.max(16, Math.round(pixels / 16) * 16);
  return { width: side(size.sidePixels * factor), height: side(size.sidePixels / factor) };
}
