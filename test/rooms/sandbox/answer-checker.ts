import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { createSandbox } from '../../../src/sandbox/index.ts';

export type Node = Record<string, unknown>;

export interface Operation {
  operationId: string;
  security: object[];
  responses: Record<string, { content?: Record<string, { schema?: Node }> }>;
}

export interface Document {
  openapi: string;
  info: { version: string };
  servers: { url: string }[];
  paths: Record<string, Record<string, Operation> & { servers?: { url: string }[] }>;
  components: { schemas: Record<string, Node>; securitySchemes: Node };
}

export interface ServedOperation {
  readonly method: string;
  /** With its base, and names in braces. */
  readonly path: string;
  readonly operation: Operation;
}

export async function readDocument(): Promise<Document> {
  const sandbox = createSandbox();
  const answer = await sandbox.fetch(new Request('http://sandbox.test/api/v1/openapi.json'));
  await sandbox.close();
  return (await answer.json()) as Document;
}

export function listOperations(document: Document): ServedOperation[] {
  return Object.entries(document.paths).flatMap(([path, { servers, ...operations }]) =>
    Object.entries(operations).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path: (servers?.[0]?.url === '/' ? '' : '/api/v1') + path,
      operation,
    })),
  );
}

/** Judges values by a schema of the document: what is wrong, or an empty text. */
export function makeSchemaChecker(document: Document): (schema: Node, value: unknown) => string {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  formats.default(ajv);
  ajv.addSchema(document, 'api');
  const compiled = new Map<string, ValidateFunction>();
  return (schema, value) => {
    const text = JSON.stringify(schema).replaceAll('"#/components/', '"api#/components/');
    const check = compiled.get(text) ?? ajv.compile(JSON.parse(text));
    compiled.set(text, check);
    return check(value) ? '' : ajv.errorsText(check.errors);
  };
}

export type AnswerChecker = (
  call: { method: string; path: string },
  answer: { status: number; text: string },
) => string;

/** Judges an answer by what the document says about its operation. What the document does not name is not judged. */
export async function makeAnswerChecker(): Promise<AnswerChecker> {
  const document = await readDocument();
  const problems = makeSchemaChecker(document);
  const operations = listOperations(document).map((served) => ({
    ...served,
    // Fixed paths are looked for first, as OpenAPI has it.
    pattern: new RegExp(`^${served.path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]*')}$`),
    names: served.path.split('{').length,
  }));
  operations.sort((a, b) => a.names - b.names);
  return (call, answer) => {
    const path = call.path.split('?')[0] ?? '';
    const found = operations.find(({ method, pattern }) => method === call.method && pattern.test(path));
    if (found === undefined) return '';
    const response = found.operation.responses[answer.status];
    if (response === undefined) return `${found.operation.operationId} does not name the status ${answer.status}`;
    const schema = response.content?.['application/json']?.schema;
    return schema === undefined ? '' : problems(schema, JSON.parse(answer.text));
  };
}
