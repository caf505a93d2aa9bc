import type { DiagnosticCode } from '../ground/diagnostic.ts';
import { shorten } from '../ground/values.ts';
import type { DataFile } from './rows/rows.ts';

type Problem = Extract<DataFile, { problem: string }>;

const problems: Readonly<Record<Problem['problem'], { code: DiagnosticCode; says: string; hint: string }>> = {
  missing: {
    code: 'MB1301',
    says: 'does not exist',
    hint: 'paths are relative to the manifest that contains them; check the name and its upper and lower case',
  },
  outside: {
    code: 'MB1303',
    says: 'is outside the folder of the manifest',
    hint: 'move the file below the folder of the manifest and name it by a relative path',
  },
  'not-a-file': { code: 'MB1301', says: 'is not a regular file', hint: 'name a file, not a folder or a device' },
  'too-large': { code: 'MB1301', says: 'is too large', hint: 'split it into several files' },
  'no-workbook': {
    code: 'MB1302',
    says: 'cannot be read as a workbook',
    hint: 'open it in a spreadsheet and save it as .xlsx, or save the sheet as “CSV UTF-8”',
  },
  unreadable: {
    code: 'MB1301',
    says: 'cannot be read',
    hint: 'check its permissions and that it is a UTF-8 text; Excel saves one as “CSV UTF-8”',
  },
};

export function explainFileProblem(
  name: string,
  { problem, detail }: Problem,
): { code: DiagnosticCode; message: string; hint: string } {
  const { code, says, hint } = problems[problem];
  return { code, message: `${name} ${says}${detail === undefined ? '' : ` (${shorten(detail, 120)})`}`, hint };
}
