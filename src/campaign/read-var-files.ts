import { CampaignError } from '../contract/failure.ts';
import type { Diagnostic } from '../ground/diagnostic.ts';
import { type PlacedVar, readVarFile } from '../manifest/read-var-file.ts';
import type { ManifestInputs } from './manifest-inputs.ts';

/** Reads files of vars in their order. Their texts go into `sources`; one that cannot be read throws. */
export async function readVarFiles(
  files: readonly string[],
  { inputs, sources }: { inputs: ManifestInputs; sources: Map<string, string> },
): Promise<{ vars: PlacedVar[]; diagnostics: Diagnostic[] }> {
  const vars: PlacedVar[] = [];
  const diagnostics: Diagnostic[] = [];
  for (const file of files) {
    const answer = await inputs.ask('vars', file);
    if ('problem' in answer) {
      const { problem, detail } = answer;
      throw new CampaignError({
        code: 'MB3104',
        message: problem === 'missing' ? `there is no file ${file}` : `${file} cannot be read: ${detail}`,
        hint: 'give --var-file a YAML or JSON file with one value for each var, as in product: Aurora Lamp',
        file,
      });
    }
    sources.set(file, answer.text);
    const read = readVarFile(file, answer.text);
    vars.push(...read.vars);
    diagnostics.push(...read.diagnostics);
  }
  return { vars, diagnostics };
}
