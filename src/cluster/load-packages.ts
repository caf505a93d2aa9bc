import { CampaignError } from '../contract/failure.ts';
import { shell, way } from '../ground/advice.ts';

const versions = {
  pg: '8.23.1',
  'pg-boss': '12.35.0',
  aws4fetch: '1.0.20',
};

type Package = keyof typeof versions;

/** Loads an optional npm package. If the package is missing, throws MB3701 with the install command. */
export async function loadPackage<T>(name: Package, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ERR_MODULE_NOT_FOUND' && code !== 'MODULE_NOT_FOUND') throw error;
    const wanted: readonly Package[] = name === 'aws4fetch' ? [name] : ['pg', 'pg-boss'];
    const words = wanted.map((one) => `${one}@${versions[one]}`);
    throw new CampaignError({
      code: 'MB3701',
      message: `the package ${name} is not installed; it is required to run on an engine`,
      hint: way('to install it', shell('npm', 'i', ...words)),
      packages: wanted,
    });
  }
}
