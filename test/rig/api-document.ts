import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

type Schema = Readonly<Record<string, unknown>>;

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly schema: Schema;
}

type Content = Readonly<Record<string, { readonly schema?: Schema }>>;

interface WrittenOperation {
  readonly operationId: string;
  readonly parameters?: readonly Parameter[];
  readonly security?: readonly object[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}

type PathItem = { readonly servers?: readonly { readonly url: string }[] } & {
  readonly [method in 'get' | 'post' | 'put' | 'delete']?: WrittenOperation;
};

export interface WrittenDocument {
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly security?: readonly object[];
}

/** An operation of the document. */
export interface Operation extends WrittenOperation {
  readonly id: string;
  readonly method: string;
  /** From the root of the host, as in `/api/v1/image/status/{id}`. */
  readonly path: string;
  /** Keys of its responses: `2XX`, `401`, `default`, … */
  readonly statuses: readonly string[];
}

/** What an OpenAPI document says of requests and answers. */
export class ApiDocument {
  readonly operations: Operation[];
  readonly #patterns = new Map<Operation, RegExp>();
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true });

  readonly #compiled = new Map<string, ValidateFunction>();

  constructor(document: WrittenDocument) {
    formats.default(this.#ajv);
    this.#ajv.addSchema(document, 'api');
    // Parameters, bodies and answers may be references into the document.
    const resolved = <Part extends object>(part: Part): Part =>
      '$ref' in part
        ? (String(part.$ref)
            .slice(2)
            .split('/')
            .reduce<unknown>((node, name) => (node as Schema)[name], document) as Part)
        : part;
    this.operations = Object.entries(document.paths).flatMap(([path, item]) =>
      (['get', 'post', 'put', 'delete'] as const).flatMap((method) => {
        const written = item[method];
        if (written === undefined) return [];
        const responses = Object.entries(written.responses).map(([status, answer]) => [status, resolved(answer)]);
        return [
          {
            ...written,
            ...{ id: written.operationId, method: method.toUpperCase(), statuses: Object.keys(written.responses) },
            path: item.servers?.[0]?.url === '/' ? path : `/api/v1${path}`,
            parameters: (written.parameters ?? []).map(resolved),
            security: written.security ?? document.security ?? [],
            ...(written.requestBody && { requestBody: resolved(written.requestBody) }),
            responses: Object.fromEntries(responses),
          },
        ];
      }),
    );
    this.operations.sort((a, b) => a.path.split('{').length - b.path.split('{').length);
    for (const operation of this.operations) {
      const pattern = operation.path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]*');
      this.#patterns.set(operation, new RegExp(`^${pattern}$`));
    }
  }

  /** The operation of a request; fixed paths come before those with names in them. */
  find(method: string, pathname: string): Operation | undefined {
    return this.operations.find((one) => one.method === method && this.#patterns.get(one)?.test(pathname));
  }

  problemsOfRequest(operation: Operation, request: Request, text: string): string[] {
    const { parameters = [], requestBody, security = [] } = operation;
    const query = new URL(request.url).searchParams;
    const problems = parameters.flatMap(({ name, in: where, required, schema }) => {
      const value = where === 'query' ? query.get(name) : where === 'header' ? request.headers.get(name) : 'x';
      if (value === null) return required ? [`${name} is missing`] : [];
      const isNumber = schema.type === 'integer' || schema.type === 'number';
      return where === 'path' ? [] : this.problems(schema, isNumber ? Number(value) : value, name);
    });
    if (security.length > 0 && !request.headers.has('authorization')) problems.push('the credential is missing');
    const schema = requestBody?.content['application/json']?.schema;
    if (requestBody?.required && text === '') problems.push('the body is missing');
    if (schema !== undefined && text !== '') problems.push(...this.problems(schema, JSON.parse(text), 'body'));
    return problems;
  }

  problemsOfAnswer({ responses }: Operation, { status, text }: { status: number; text: string }): string[] {
    const response = responses[status] ?? responses[`${Math.floor(status / 100)}XX`] ?? responses.default;
    if (response === undefined) return [`the status ${status} is not documented`];
    const schema = response.content?.['application/json']?.schema;
    return schema === undefined ? [] : this.problems(schema, JSON.parse(text), 'answer');
  }

  /** What is wrong with a value, by a schema of the document. */
  problems(schema: Schema, value: unknown, what = 'body'): string[] {
    const text = JSON.stringify(schema).replaceAll('"#/components/', '"api#/components/');
    const check = this.#compiled.get(text) ?? this.#ajv.compile(JSON.parse(text));
    this.#compiled.set(text, check);
    return check(value) ? [] : [this.#ajv.errorsText(check.errors, { dataVar: what })];
  }
}
